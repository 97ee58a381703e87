/** The length of the prefix in the index of tags (`migrations/0001-plants.sql`). */
const INDEXED_CHARACTERS = 200

/** The SQL condition that a plant has the tag in a parameter, such as `$1`. */
export function hasTag(parameter: string): string {
  return `left(tag, ${INDEXED_CHARACTERS}) = left(${parameter}, ${INDEXED_CHARACTERS}) AND tag = ${parameter}`
}
