import type { PlantStoreClient } from '../../../src/client/plant-store-client.ts'

/** Programs choose ids above this. A random id is suggested then. */
const CHOSEN_MAX = 2n ** 53n
/** The search ends when the rest of the list fits one page. */
const PAGE = 100
const GALLOP = 64n

/** The greatest id plus one, or a random free id if the greatest is above 2^53. */
export async function findFreeId(client: PlantStoreClient, signal: AbortSignal): Promise<bigint> {
  const lastAfter = async (after: bigint) => {
    for await (const plants of client.listPlants({ after, pageSize: PAGE, signal }).pages()) {
      const last = plants.at(-1)?.id
      return { last, isEnd: plants.length < PAGE }
    }
    return { last: undefined, isEnd: true }
  }
  let low = 0n
  let high = GALLOP
  for (;;) {
    const { last, isEnd } = await lastAfter(high)
    if (last === undefined) break
    if (last >= CHOSEN_MAX || high >= CHOSEN_MAX) return randomFreeId(client, signal)
    if (isEnd) return last + 1n
    low = last
    high = last > high * GALLOP ? last : high * GALLOP
  }
  // No id is greater than `high`. There is an id of at least `low`.
  for (;;) {
    const middle = low + (high - low) / 2n
    const { last, isEnd } = await lastAfter(middle)
    if (last !== undefined && isEnd) return last + 1n
    if (last !== undefined) low = last
    else if (middle === low) return low + 1n
    else high = middle
  }
}

async function randomFreeId(client: PlantStoreClient, signal: AbortSignal): Promise<bigint> {
  for (;;) {
    const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
    const id = BigInt.asUintN(53, (BigInt(high) << 32n) | BigInt(low))
    // A GET by id would log its 404 as an error in the browser's console.
    const { value } = await client
      .listPlants({ after: id - 1n, pageSize: 1, signal })
      .pages()
      [Symbol.asyncIterator]()
      .next()
    if (value?.[0]?.id !== id) return id
  }
}
