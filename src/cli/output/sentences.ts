/** Sentences one after the other: each ends before the next one begins. Those that are missing are left out. */
export function sentences(...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part = '') => part !== '')
    .map((part = '') => (/[.?!)]$/.test(part) ? part : `${part}.`))
    .join(' ')
}
