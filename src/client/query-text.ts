/**
 * `?tag=…` and so on, of values that are gathered by what `typeof` says of them; empty where none is given. Throws a
 * TypeError for a value of another type: a null would ask for the text "null".
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
