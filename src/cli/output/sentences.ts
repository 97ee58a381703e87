/** Joins sentences, with a full stop where one has none; skips missing ones. */
export function sentences(...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part = '') => part !== '')
    .map((part = '') => (/[.?!)]$/.test(part) ? part : `${part}.`))
    .join(' ')
}
