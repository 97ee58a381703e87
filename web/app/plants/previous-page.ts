import type { StoredPlant } from '../../../src/client/plant-store-client.ts'

const ID_MIN = -(2n ** 63n)
/** How much farther it looks back each time that it finds nothing. */
const FARTHER = 16n

/** A page of plants behind an id; `isEnd` where it holds all that there are. */
export interface FoundPage {
  plants: StoredPlant[]
  isEnd: boolean
}

export interface PreviousPage {
  /** The plants come behind this id; undefined for the beginning. */
  after: bigint | undefined
  /** Plants up to and with the boundary, without a gap. Empty only at the beginning. */
  plants: StoredPlant[]
  /** How far back it had to look. */
  span: bigint
}

/**
 * The plants right before `boundary`, itself included, though a list can only be asked for what comes behind an
 * id: it looks back by a guess, farther where there is nothing and nearer where a page does not reach the boundary.
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
      // Nothing is near: there may be nothing at all, which looking back farther and farther would be long to find.
      const first = await fetchAfter(undefined)
      const found = first.plants.filter(({ id }) => id <= boundary)
      if (first.isEnd || found.length < first.plants.length) return { after: undefined, plants: found, span }
    }
    if (reaches) near = span
    else far = span
    span = far === undefined ? span * FARTHER : near + (far - near + 1n) / 2n
  }
}
