import type { StoredPlant } from './plant.ts'

/** The JSON text of a stored plant, its id exact. Written by hand, as `JSON.stringify` takes no bigint. */
export function storedPlantJson({ id, name, tag, createdAtUs, updatedAtUs }: StoredPlant): string {
  const createdAt = timeText(createdAtUs)
  const updatedAt = createdAtUs === updatedAtUs ? createdAt : timeText(updatedAtUs)
  const tagMember = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`
  return `{"id":${id},"name":${JSON.stringify(name)}${tagMember},"createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`
}

/** RFC 3339, UTC, to the millisecond. */
function timeText(timeUs: number): string {
  return new Date(timeUs / 1000).toISOString()
}
