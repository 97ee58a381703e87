/**
 * The query of a URL, such as `?tag=palm`, of values grouped by their `typeof`. Empty without values. Throws a
 * TypeError for a value of another type: null would become the text "null".
 */
export function queryText(valuesByType: Record<string, Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [type, values] of Object.entries(valuesByType)) {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) continue
      if (typeof value !== type) throw new TypeError(`${name} must be a ${type}`)
      query.set(name, String(value))
    }
  }
  const text = String(query)
  return text && `?${text}`
}
