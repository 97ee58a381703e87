import { useCallback } from 'preact/hooks'
import type { PlantStoreClient } from '../../../src/client/plant-store-client.ts'
import { FailureBanner } from '../parts/failure-banner.tsx'
import { texts } from '../parts/texts.ts'
import { momentOf } from '../parts/times.ts'
import { useQuery } from '../parts/use-query.ts'
import { AdditionsBars } from './additions-bars.tsx'
import { periodText } from './period-text.ts'
import { type Timeline, timelineOf } from './periods.ts'

const words = texts.additions
/** The first count of millions of plants takes long. */
const COUNT_TIMEOUT_MS = 120_000

/** Plants added over time, as a bar chart and as a table. */
export function AdditionsPicture({ client }: { client: PlantStoreClient }) {
  const count = useCallback(
    (signal: AbortSignal) => client.countAdditions({ signal, timeoutMs: COUNT_TIMEOUT_MS }),
    [client],
  )
  const { data, failure, retry } = useQuery(count)
  const timeline = data && data.days.length > 0 && timelineOf(data.days, data.countedAt)
  return (
    <section class="additions" aria-labelledby="additions-title">
      <h2 id="additions-title">{words.title}</h2>
      <FailureBanner failure={failure} retry={retry} />
      {timeline && data ? (
        <>
          <AdditionsBars timeline={timeline} />
          <p class="hint">{words.countedAt(momentOf(data.countedAt))}</p>
          <Numbers timeline={timeline} />
        </>
      ) : (
        failure === undefined && <p class="empty">{data === undefined ? words.counting : words.empty}</p>
      )}
    </section>
  )
}

function Numbers({ timeline: { unit, periods } }: { timeline: Timeline }) {
  return (
    <details>
      <summary>{words.numbers}</summary>
      <table class="bars numbers">
        <thead>
          <tr>
            <th scope="col">{words.units[unit]}</th>
            <th scope="col" class="number">
              {words.plants}
            </th>
          </tr>
        </thead>
        <tbody>
          {periods
            .filter(({ count }) => count > 0)
            .map((period) => (
              <tr key={period.beginMs}>
                <th scope="row">{periodText(unit, period)}</th>
                <td class="number">{period.count.toLocaleString('en')}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </details>
  )
}
