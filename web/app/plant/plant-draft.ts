/** The fields of a plant, as the service names them. */
export const PLANT_FIELDS = ['id', 'name', 'tag'] as const

export type PlantField = (typeof PLANT_FIELDS)[number]

/** The texts in the fields of a form. */
export type PlantDraft = Record<PlantField, string>
