export const ID_MIN = -(2n ** 63n)
export const ID_MAX = 2n ** 63n - 1n

/** Ids where an integer of another width, or an unsigned one, would go wrong; in their order. */
export const NOTABLE_IDS: readonly bigint[] = [
  ID_MIN,
  ID_MIN + 1n,
  -(2n ** 53n) - 1n,
  -(2n ** 32n),
  -2n,
  -1n,
  0n,
  1n,
  2n ** 31n,
  2n ** 32n + 1n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  ID_MAX - 1n,
  ID_MAX,
]
