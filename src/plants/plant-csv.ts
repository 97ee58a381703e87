import type { StoredPlant } from './plant.ts'
import { timeText } from './plant-json.ts'

/** The header row of plants in CSV (RFC 4180). */
export const CSV_HEADER = 'id,name,tag,createdAt,updatedAt\r\n'

/**
 * The row of a stored plant in CSV. Nothing is escaped that would be other data when it is read back. No tag is an
 * empty cell, an empty text `""`, which most readers cannot tell from none.
 */
export function storedPlantCsv({ id, name, tag, createdAtMs, updatedAtMs }: StoredPlant): string {
  const createdAt = timeText(createdAtMs)
  const updatedAt = createdAtMs === updatedAtMs ? createdAt : timeText(updatedAtMs)
  return `${id},${cellOf(name)},${tag === undefined ? '' : cellOf(tag)},${createdAt},${updatedAt}\r\n`
}

function cellOf(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
