import type { XStatic } from 'typebox/schema'
import { type FieldProblem, invalidFields } from '../errors.ts'

/** Names and tags exclude what a JSON string can contain, but PostgreSQL text and UTF-8 cannot. */
const TEXT_RULE = 'without U+0000 and lone surrogates'
export const ID_MIN = -(2n ** 63n)
export const ID_MAX = 2n ** 63n - 1n
const ID_RULE = `an integer from ${ID_MIN} to ${ID_MAX}`

/**
 * The Plant of the specification: the content of a plant, and the only list of its members. All members are texts.
 * Other members are allowed and ignored.
 */
export const PlantSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', description: `The name of the plant: a string ${TEXT_RULE}, stored unchanged` },
    tag: {
      type: 'string',
      description: `Tag that specifies the type of the plant: a string ${TEXT_RULE}, stored unchanged`,
    },
  },
} as const

/** A plant with the id that the client chose. */
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

/** A plant as the API returns it. */
export const StoredPlantSchema = {
  type: 'object',
  required: ['id', 'name', 'createdAt', 'updatedAt'],
  properties: {
    id: NewPlantSchema.allOf[1].properties.id,
    ...PlantSchema.properties,
    tag: { type: 'string', description: 'Absent if the plant has none, never null' },
    createdAt: { type: 'string', format: 'date-time', description: 'Time of creation (RFC 3339, UTC)' },
    updatedAt: { type: 'string', format: 'date-time', description: 'Time of the last write (RFC 3339, UTC)' },
  },
} as const

/** A JSON merge patch (RFC 7396) of a plant: absent members stay unchanged, `"tag": null` deletes the tag. */
export const PlantUpdateSchema = {
  type: 'object',
  properties: updateProperties(),
} as const

function updateProperties(): Record<keyof PlantContent, object> {
  const required: readonly string[] = PlantSchema.required
  const properties = Object.entries(PlantSchema.properties).map(([name, property]) => {
    if (required.includes(name)) return [name, property] as const
    const description = `The new ${name}; null deletes it`
    return [name, { ...property, type: [property.type, 'null'], description }] as const
  })
  return Object.fromEntries(properties) as Record<keyof PlantContent, object>
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/** A plant without its id: passed as one value from the parser to the stores and back. */
export type PlantContent = Writable<XStatic<typeof PlantSchema>>

/** `id` is a bigint: as numbers 9007199254740993 and 9007199254740992 are equal. */
export type NewPlant = PlantContent & { id: bigint }

/** The members to update. Null deletes an optional one. */
export type PlantUpdate = {
  [Name in keyof PlantContent]?: PlantContent[Name] | (object extends Pick<PlantContent, Name> ? null : never)
}

/**
 * Times in milliseconds since 1970. Every write gives the plant a new `version`, which no earlier write had.
 */
export type StoredPlant = NewPlant & { createdAtMs: number; updatedAtMs: number; version: number }

/** A member of the content. Other code handles the content by this interface only and names no member. */
export interface ContentMember {
  name: keyof PlantContent
  isRequired: boolean
  /** Undefined if it is absent; null if an update deletes it. */
  get(content: Readonly<PlantUpdate>): string | null | undefined
  set(content: PlantContent, text: string): void
}

/** One function per member is twice as fast as one function that takes the name of the member. */
const ACCESS = {
  name: {
    get: ({ name }) => name,
    set(content, text) {
      content.name = text
    },
  },
  tag: {
    get: ({ tag }) => tag,
    set(content, text) {
      content.tag = text
    },
  },
} satisfies Record<keyof PlantContent, Pick<ContentMember, 'get' | 'set'>>

/** The members of the content, in the order of the schema. */
export const CONTENT_MEMBERS: readonly ContentMember[] = contentMembers()

function contentMembers(): ContentMember[] {
  const names = Object.keys(PlantSchema.properties) as (keyof PlantContent)[]
  const required: readonly string[] = PlantSchema.required
  return names.map((name) => ({ name, isRequired: required.includes(name), ...ACCESS[name] }))
}

/** The entity tag (RFC 9110 §8.8.3) of a plant: its version in quotation marks. */
export function entityTagOf(version: number): string {
  return `"${version}"`
}

/**
 * Returns a version for a write of a plant: a random integer below 2⁵³. A counter would repeat when a plant is deleted
 * and created again, a time when the clock is set back. Random versions need no coordination between writers.
 */
export function generateVersion(): number {
  return Math.floor(Math.random() * 2 ** 53)
}

/**
 * Parses a NewPlant from a JSON body in which an int64 is a bigint (`parseExactJson`).
 * Throws 40003 with every field that is missing or invalid.
 */
export function parseNewPlant(body: unknown): NewPlant {
  const members = membersOf(body)
  const problems: FieldProblem[] = []
  const id = ownMember(members, 'id')
  if (typeof id !== 'bigint') problems.push(idProblem(id))
  const content = readContent(members, problems)
  if (problems.length > 0) throw invalidFields(problems)
  return { id: id as bigint, ...content }
}

/** Parses the new content of the plant `id`. Throws like `parseNewPlant`, and for a different id in the body. */
export function parsePlant(body: unknown, id: bigint): PlantContent {
  const members = membersOf(body)
  const problems: FieldProblem[] = []
  checkSameId(members, id, problems)
  const content = readContent(members, problems)
  if (problems.length > 0) throw invalidFields(problems)
  return content
}

/** Parses a merge patch for the plant `id`. Throws like `parsePlant`. */
export function parsePlantUpdate(body: unknown, id: bigint): PlantUpdate {
  const members = membersOf(body)
  const problems: FieldProblem[] = []
  checkSameId(members, id, problems)
  const update: Partial<Record<keyof PlantContent, string | null>> = {}
  for (const { name, isRequired } of CONTENT_MEMBERS) {
    const value = ownMember(members, name)
    if (value === undefined) continue
    if (isText(value) || (value === null && !isRequired)) update[name] = value
    else problems.push(textProblem(name, value))
  }
  if (problems.length > 0) throw invalidFields(problems)
  // The compiler does not see that only optional members are null.
  return update as PlantUpdate
}

/** Parses an id in plain decimal, the only form in a path, a query or a CSV cell. Undefined if it is invalid. */
export function parseIdText(text: string): bigint | undefined {
  // Rejects texts longer than the longest int64 before the expensive BigInt.
  if (text.length > 20 || !/^-?(?:0|[1-9][0-9]*)$/.test(text)) return undefined
  const id = BigInt(text)
  return BigInt.asIntN(64, id) === id ? id : undefined
}

function readContent(members: object, problems: FieldProblem[]): PlantContent {
  const content: PlantContent = { name: '' }
  for (const { name, isRequired, set } of CONTENT_MEMBERS) {
    const value = ownMember(members, name)
    if (value === undefined && !isRequired) continue
    if (isText(value)) set(content, value)
    else {
      const problem = textProblem(name, value)
      if (value === null && !isRequired) problem.message += ` Omit it for a plant without a ${name}.`
      problems.push(problem)
    }
  }
  return content
}

function checkSameId(members: object, id: bigint, problems: FieldProblem[]): void {
  const bodyId = ownMember(members, 'id')
  if (bodyId === undefined || bodyId === id) return
  problems.push({
    name: 'id',
    rule: 'same-as-path',
    message: `id must be the id in the path, ${id}, or be omitted.`,
  })
}

function membersOf(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  const message = `The body must be a JSON object, not ${kindOf(body)}.`
  throw invalidFields([{ name: '', rule: 'object', message }])
}

function ownMember(members: object, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name as keyof typeof members] : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}

function idProblem(id: unknown): FieldProblem {
  const name = 'id'
  if (id === undefined) return { name, rule: 'required', message: 'id is required.' }
  if (typeof id === 'number') {
    return { name, rule: 'int64', message: `id must be ${ID_RULE}, without a fraction.` }
  }
  return { name, rule: 'integer', message: `id must be ${ID_RULE}, not ${kindOf(id)}.` }
}

function textProblem(name: string, value: unknown): FieldProblem {
  if (value === undefined) return { name, rule: 'required', message: `${name} is required.` }
  if (typeof value !== 'string') {
    return { name, rule: 'string', message: `${name} must be a string, not ${kindOf(value)}.` }
  }
  return { name, rule: 'well-formed', message: `${name} must not contain U+0000 or lone surrogates.` }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'bigint') return 'a number'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
