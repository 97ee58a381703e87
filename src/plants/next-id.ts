import { webcrypto } from 'node:crypto'
import type { PlantStore, ReadOptions } from './plant-store.ts'

/** 2^53 - 1: up to here programs that read ids as floating-point numbers have them exactly. */
export const NEXT_ID_MAX = 2n ** 53n - 1n
const BITS = 53

export interface NextIdOptions extends ReadOptions {
  /** A random integer of 64 bits. */
  random?: () => bigint
}

/**
 * A positive id that no plant has: one more than the greatest up to NEXT_ID_MAX. Programs choose ids far above it;
 * those do not count. If NEXT_ID_MAX itself is used, a random one. Another caller may use the id first.
 */
export async function nextId(
  plants: Pick<PlantStore, 'lastIdUpTo'>,
  { random = random64, ...options }: NextIdOptions = {},
): Promise<bigint> {
  const last = await plants.lastIdUpTo(NEXT_ID_MAX, options)
  if (last === undefined || last < 1n) return 1n
  if (last < NEXT_ID_MAX) return last + 1n
  for (;;) {
    const id = BigInt.asUintN(BITS, random())
    if (id > 0n && (await plants.lastIdUpTo(id, options)) !== id) return id
  }
}

function random64(): bigint {
  return webcrypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n
}
