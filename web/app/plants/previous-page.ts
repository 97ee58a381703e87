import type { StoredPlant } from '../../../src/client/plant-store-client.ts'

const ID_MIN = -(2n ** 63n)
/** The factor by which the span grows while it contains no plants. */
const SPAN_GROWTH = 16n

/** The plants after an id. `isEnd`: no plants follow them. */
export interface FoundPage {
  plants: StoredPlant[]
  isEnd: boolean
}

export interface PreviousPage {
  /** The plants come after this id; undefined for the beginning of the list. */
  after: bigint | undefined
  /** All plants after `after`, up to and including the boundary. Empty only at the beginning. */
  plants: StoredPlant[]
  /** The distance in ids from `after` to the boundary. */
  span: bigint
}

/**
 * Finds the plants up to and including `boundary`, although the API lists only forwards. It guesses how far back the
 * page begins: farther if there are no plants, nearer if the page does not reach the boundary.
 */
export async function findPreviousPage(
  fetchAfter: (after: bigint | undefined) => Promise<FoundPage>,
  boundary: bigint,
  guess: bigint,
): Promise<PreviousPage> {
  let near = 0n
  let far: bigint | undefined
  let span = guess
  for (;;) {
    const after = boundary - span < ID_MIN ? undefined : boundary - span
    const page = await fetchAfter(after)
    const plants = page.plants.filter(({ id }) => id <= boundary)
    const reaches = page.isEnd || plants.length < page.plants.length || plants.at(-1)?.id === boundary
    if (reaches && (plants.length > 0 || after === undefined)) return { after, plants, span }
    if (reaches && span === guess) {
      // No plants are near. Checking the first page ends the search early if there are none at all.
      const first = await fetchAfter(undefined)
      const found = first.plants.filter(({ id }) => id <= boundary)
      if (first.isEnd || found.length < first.plants.length) return { after: undefined, plants: found, span }
    }
    if (reaches) near = span
    else far = span
    span = far === undefined ? span * SPAN_GROWTH : near + (far - near + 1n) / 2n
  }
}
