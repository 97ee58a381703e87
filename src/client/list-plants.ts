import { withExactId } from './exact-ids.ts'
import type { StoredPlant } from './plant-types.ts'
import { queryText } from './query-text.ts'
import { asList, readResponse } from './read-response.ts'
import type { CallOptions, Sender } from './send-request.ts'

/** Only plants that match every member. */
export interface PlantFilter {
  /** Only plants with a greater id. */
  after?: bigint | undefined
  /** Only plants with exactly this tag. */
  tag?: string | undefined
  /** Only plants whose name has all these words, or words that begin with them. Ignores case and accents. */
  q?: string | undefined
}

export interface ListPlantsOptions extends PlantFilter, CallOptions {
  /** Plants per request: 1 to 1000. Default: 1000. */
  pageSize?: number | undefined
}

/** Plants in the order of their ids. Each loop sends its own requests, one per page as it needs it. */
export interface PlantList extends AsyncIterable<StoredPlant> {
  /** The same plants in pages, as they arrive. No page is empty. */
  pages(): AsyncIterable<StoredPlant[]>
}

const PAGE_SIZE_DEFAULT = 1_000

export function listPlants(sender: Sender, options: ListPlantsOptions): PlantList {
  async function* pages(): AsyncGenerator<StoredPlant[], void, undefined> {
    let { after } = options
    for (;;) {
      const limit = options.pageSize ?? PAGE_SIZE_DEFAULT
      const query = queryText({ number: { limit }, ...filterValues({ ...options, after }) })
      const { plants, headers } = await sender.send(
        { path: `/plants${query}` },
        (response) => ({ plants: readResponse(response, plantsIn), headers: response.headers }),
        options,
      )
      const last = plants.at(-1)
      if (last === undefined) return
      yield plants
      // A short page need not be the last, as the service also limits its bytes.
      if (!/;\s*rel="?next/.test(headers.get('link') ?? '')) return
      after = last.id
    }
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page
    },
  }
}

function plantsIn(list: unknown): StoredPlant[] {
  return asList(list).map(withExactId<StoredPlant>)
}

/** For `queryText`. */
export function filterValues({ after, tag, q }: PlantFilter) {
  return { bigint: { after }, string: { tag, q } }
}
