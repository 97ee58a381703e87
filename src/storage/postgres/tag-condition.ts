/** As much of a tag as its index holds (`migrations/0001-plants.sql`). */
const INDEXED_CHARACTERS = 200

/** The condition that a plant has the tag that a parameter of a statement, $1 say, names. */
export function hasTag(parameter: string): string {
  return `left(tag, ${INDEXED_CHARACTERS}) = left(${parameter}, ${INDEXED_CHARACTERS}) AND tag = ${parameter}`
}
