import { CONTENT_MEMBERS, type PlantContent, type StoredPlant } from './plant.ts'
import { timeText } from './time-text.ts'

/** The JSON text of a stored plant. Written by hand, because `JSON.stringify` does not support bigint ids. */
export function storedPlantJson(plant: StoredPlant): string {
  const { createdAtMs, updatedAtMs } = plant
  const createdAt = timeText(createdAtMs)
  const updatedAt = createdAtMs === updatedAtMs ? createdAt : timeText(updatedAtMs)
  return `{"id":${plant.id}${contentJson(plant)},"createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`
}

const JSON_MEMBERS = CONTENT_MEMBERS.map(({ name, get }) => ({ key: `,${JSON.stringify(name)}:`, get }))

/** The members of the content, each after a comma. */
function contentJson(content: PlantContent): string {
  let json = ''
  for (const { key, get } of JSON_MEMBERS) {
    const text = get(content)
    if (text !== undefined) json += key + JSON.stringify(text)
  }
  return json
}
