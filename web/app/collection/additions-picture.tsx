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
/** The first count of many millions of plants takes its time. */
const COUNT_TIMEOUT_MS = 120_000

/** When the plants were added: bars over time, and the same in a table. */
export function AdditionsPicture({ client }: { client: PlantStoreClient }) {
  const ask = useCallback(
    (signal: AbortSignal) => client.countAdditions({ signal, timeoutMs: COUNT_TIMEOUT_MS }),
    [client],
  )
  const { answer, failure, retry } = useQuery(ask)
  const timeline = answer && answer.days.length > 0 && timelineOf(answer.days, answer.countedAt)
  return (
    <section class="additions" aria-labelledby="additions-title">
      <h2 id="additions-title">{words.title}</h2>
      <FailureBanner failure={failure} retry={retry} />
      {timeline && answer ? (
        <>
          <AdditionsBars timeline={timeline} />
          <p class="hint">{words.countedAt(momentOf(answer.countedAt))}</p>
          <Numbers timeline={timeline} />
        </>
      ) : (
        failure === undefined && <p class="empty">{answer === undefined ? words.counting : words.empty}</p>
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
