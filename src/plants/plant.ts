import type { XStatic } from 'typebox/schema'
import { AppError } from '../errors.ts'

/**
 * What a name or a tag may not hold, though a JSON string can: no PostgreSQL text and no UTF-8 keeps these.
 */
const TEXT_RULE = 'without U+0000 and lone surrogates'
export const ID_MIN = -(2n ** 63n)
export const ID_MAX = 2n ** 63n - 1n
const ID_RULE = `an integer from ${ID_MIN} to ${ID_MAX}`

/** A plant as it was specified. Other members are legal and ignored. */
export const PlantSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', description: `The name of the plant, a string ${TEXT_RULE}, kept as sent` },
    tag: { type: 'string', description: `Tag that specifies the type of the plant, a string ${TEXT_RULE}` },
  },
} as const

/** A plant with the id that its client chose. */
export const NewPlantSchema = {
  allOf: [
    { $ref: '#/components/schemas/Plant' },
    {
      type: 'object',
      required: ['id'],
      properties: {
        id: { type: 'integer', format: 'int64', description: 'Identification number of the plant' },
      },
    },
  ],
} as const

/** A plant as it is read back. */
export const StoredPlantSchema = {
  type: 'object',
  required: ['id', 'name', 'createdAt', 'updatedAt'],
  properties: {
    id: NewPlantSchema.allOf[1].properties.id,
    name: PlantSchema.properties.name,
    tag: { type: 'string', description: 'Absent when the plant has none, never null' },
    createdAt: { type: 'string', format: 'date-time', description: 'RFC 3339, UTC' },
    updatedAt: { type: 'string', format: 'date-time', description: 'RFC 3339, UTC' },
  },
} as const

/** A JSON merge patch (RFC 7396) of a plant: what is absent stays, `"tag": null` removes the tag. */
export const PlantUpdateSchema = {
  type: 'object',
  properties: {
    name: PlantSchema.properties.name,
    tag: { type: ['string', 'null'], description: 'The new tag; null removes it' },
  },
} as const

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

export type Plant = Writable<XStatic<typeof PlantSchema>>

/** `id` is a bigint, as a number cannot tell 9007199254740993 from 9007199254740992. */
export type NewPlant = Plant & { id: bigint }

export type PlantUpdate = Writable<XStatic<typeof PlantUpdateSchema>>

/**
 * Times in milliseconds since 1970. `version` is another one after every write, and never an earlier one
 * again.
 */
export type StoredPlant = NewPlant & { createdAtMs: number; updatedAtMs: number; version: number }

/**
 * A version for a plant that is about to be written: one in 2⁵³, by chance. A count or a time would come back
 * when the plant is deleted and made anew, or the clock is set back; and no writer needs to know of another.
 */
export function generateVersion(): number {
  return Math.floor(Math.random() * 2 ** 53)
}

/**
 * Reads a NewPlant from a parsed body in which an int64 is a bigint (`parseExactJson`).
 * Throws 40003 with every field that is missing or wrong, and its rule.
 */
export function parseNewPlant(body: unknown): NewPlant {
  const members = membersOf(body)
  const problems: string[] = []
  const id = ownMember(members, 'id')
  if (typeof id === 'number') problems.push(`id must be ${ID_RULE}, not a fraction or a number out of range`)
  else if (typeof id !== 'bigint') problems.push(problemOf('id', id, ID_RULE))
  const plant = readPlant(members, problems)
  if (problems.length > 0) throw new AppError(40003, problems.join('; '))
  return { id: id as bigint, ...plant }
}

/**
 * Reads the Plant that replaces the one of `id`. Throws 40003 as `parseNewPlant` does, and when the body
 * holds an id that is not `id`.
 */
export function parsePlant(body: unknown, id: bigint): Plant {
  const members = membersOf(body)
  const problems: string[] = []
  checkSameId(members, id, problems)
  const plant = readPlant(members, problems)
  if (problems.length > 0) throw new AppError(40003, problems.join('; '))
  return plant
}

/** Reads a merge patch for the plant of `id`. Throws 40003 as `parsePlant` does. */
export function parsePlantUpdate(body: unknown, id: bigint): PlantUpdate {
  const members = membersOf(body)
  const problems: string[] = []
  checkSameId(members, id, problems)
  const name = ownMember(members, 'name')
  const tag = ownMember(members, 'tag')
  if (name !== undefined && !isText(name)) problems.push(problemOf('name', name, `a string ${TEXT_RULE}`))
  if (tag !== undefined && tag !== null && !isText(tag)) {
    problems.push(problemOf('tag', tag, `null or a string ${TEXT_RULE}`))
  }
  if (problems.length > 0) throw new AppError(40003, problems.join('; '))
  const change: PlantUpdate = {}
  if (name !== undefined) change.name = name as string
  if (tag !== undefined) change.tag = tag as string | null
  return change
}

/** Reads an id written as the plain decimal, the only form that a path or a query parameter may hold. */
export function parseIdText(text: string): bigint | undefined {
  // Longer than the longest int64: not worth a bigint.
  if (text.length > 20 || !/^-?(?:0|[1-9][0-9]*)$/.test(text)) return undefined
  const id = BigInt(text)
  return BigInt.asIntN(64, id) === id ? id : undefined
}

function readPlant(members: object, problems: string[]): Plant {
  const name = ownMember(members, 'name')
  const tag = ownMember(members, 'tag')
  if (!isText(name)) problems.push(problemOf('name', name, `a string ${TEXT_RULE}`))
  if (tag !== undefined && !isText(tag)) {
    problems.push(`${problemOf('tag', tag, `a string ${TEXT_RULE}`)}; leave it out for a plant without a tag`)
  }
  return tag === undefined ? { name: name as string } : { name: name as string, tag: tag as string }
}

function checkSameId(members: object, id: bigint, problems: string[]): void {
  const bodyId = ownMember(members, 'id')
  if (bodyId !== undefined && bodyId !== id) problems.push(`id must equal the path's ${id}, or be left out`)
}

function membersOf(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new AppError(40003, `the body must be a JSON object, not ${kindOf(body)}`)
}

function ownMember(members: object, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name as keyof typeof members] : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}

function problemOf(field: string, value: unknown, rule: string): string {
  if (value === undefined) return `${field} is missing: it must be ${rule}`
  return `${field} must be ${rule}${typeof value === 'string' && rule.startsWith('a string') ? '' : `, not ${kindOf(value)}`}`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'bigint') return 'a number'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
