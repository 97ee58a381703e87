import { useState } from 'preact/hooks'
import { texts } from '../parts/texts.ts'
import { beginText, periodText } from './period-text.ts'
import { labelled, scaleEnd, type Timeline } from './periods.ts'

const words = texts.additions
/** Labels below the bars. On a phone every other one is hidden. */
const LABELS_MAX = 6
/** Up to this number, a bar is as wide as its label even on a phone. */
const BROAD_BARS_MAX = 7

/**
 * A bar chart. An invisible range input covers the bars, one step a bar: mouse, touch, arrow keys and screen readers
 * choose a bar with it, and Tab stops once.
 */
export function AdditionsBars({ timeline }: { timeline: Timeline }) {
  const { unit, periods } = timeline
  const [chosen, setChosen] = useState<number>()
  const [pointed, setPointed] = useState<number>()
  const last = periods.length - 1
  const end = scaleEnd(Math.max(...periods.map(({ count }) => count)))
  const highlighted = pointed ?? chosen
  const barText = (at: number) => {
    const period = periods[at]
    return period === undefined ? '' : words.bar(periodText(unit, period), period.count)
  }
  const sum = periods.reduce((total, { count }) => total + count, 0)

  function barAt(event: PointerEvent): number {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect()
    const at = Math.floor(((event.clientX - left) / width) * periods.length)
    return Math.min(Math.max(at, 0), last)
  }

  return (
    <figure class="timeline" aria-labelledby="additions-title">
      <p class="bar-text">
        {highlighted === undefined ? words.sum(sum, words.perUnit[unit]) : barText(highlighted)}
      </p>
      <div class="scale" aria-hidden="true">
        {(end > 1 ? [end, end / 2, 0] : [1, 0]).map((count) => (
          <span key={count}>{count.toLocaleString('en', { notation: 'compact' })}</span>
        ))}
      </div>
      <div class="columns">
        {periods.map(({ beginMs, count }, at) => (
          <span key={beginMs} class={at === highlighted ? 'chosen' : undefined}>
            {count > 0 && <i style={{ height: `${(count / end) * 100}%` }} />}
          </span>
        ))}
        <input
          type="range"
          min="0"
          max={last}
          value={chosen ?? last}
          style={{ '--bars': periods.length }}
          aria-label={words.choose}
          aria-valuetext={barText(chosen ?? last)}
          onInput={(event) => setChosen(Number(event.currentTarget.value))}
          onFocus={() => setChosen(chosen ?? last)}
          onBlur={() => setChosen(undefined)}
          onPointerDown={(event) => setChosen(barAt(event))}
          onPointerMove={(event) => setPointed(barAt(event))}
          onPointerLeave={() => setPointed(undefined)}
        />
      </div>
      <div class="dates" aria-hidden="true">
        {labelled(timeline, LABELS_MAX).map((at) => {
          const period = periods[at]
          const place = ((at + 0.5) / periods.length) * 100
          // A label centred below a narrow bar at either end would overflow the chart.
          const isAtEnd = periods.length > BROAD_BARS_MAX && (place < 5 || place > 90)
          return (
            period && (
              <span
                key={at}
                style={{ left: `${place}%`, transform: `translateX(-${isAtEnd ? place : 50}%)` }}
              >
                {beginText(unit, period)}
              </span>
            )
          )
        })}
      </div>
    </figure>
  )
}
