import { cellText } from './import/table-dialect.ts'
import { CONTENT_MEMBERS, type StoredPlant } from './plant.ts'
import { timeText } from './time-text.ts'

/** The header row of plants in CSV (RFC 4180). */
export const CSV_HEADER = `id,${CONTENT_MEMBERS.map(({ name }) => name).join()},createdAt,updatedAt\r\n`

/**
 * The row of a stored plant in CSV. Formulas are not escaped: an import must read what was stored. An absent member is
 * an empty cell and an empty text is `""`, which most readers do not distinguish.
 */
export function storedPlantCsv(plant: StoredPlant): string {
  const { createdAtMs, updatedAtMs } = plant
  const createdAt = timeText(createdAtMs)
  const updatedAt = createdAtMs === updatedAtMs ? createdAt : timeText(updatedAtMs)
  let cells = `${plant.id},`
  for (const { get } of CONTENT_MEMBERS) cells += `${cellOf(get(plant))},`
  return `${cells}${createdAt},${updatedAt}\r\n`
}

function cellOf(text: string | null | undefined): string {
  return text === undefined || text === null ? '' : cellText(text)
}
