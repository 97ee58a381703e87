import type { XStatic } from 'typebox/schema'
import { type FieldProblem, invalidFields } from '../errors.ts'

/** Names and tags exclude what PostgreSQL text and UTF-8 cannot hold, though a JSON string can. */
const TEXT_RULE = 'without U+0000 and lone surrogates'
export const ID_MIN = -(2n ** 63n)
export const ID_MAX = 2n ** 63n - 1n
const ID_RULE = `an integer from ${ID_MIN} to ${ID_MAX}`

/**
 * A plant as it was specified: its content, and the one list of its members. They are texts. Other members are
 * legal and ignored.
 */
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
    ...PlantSchema.properties,
    tag: { type: 'string', description: 'Absent when the plant has none, never null' },
    createdAt: { type: 'string', format: 'date-time', description: 'RFC 3339, UTC' },
    updatedAt: { type: 'string', format: 'date-time', description: 'RFC 3339, UTC' },
  },
} as const

/** A JSON merge patch (RFC 7396) of a plant: what is absent stays, `"tag": null` removes the tag. */
export const PlantUpdateSchema = {
  type: 'object',
  properties: updateProperties(),
} as const

function updateProperties(): Record<keyof PlantContent, object> {
  const required: readonly string[] = PlantSchema.required
  const properties = Object.entries(PlantSchema.properties).map(([name, property]) => {
    if (required.includes(name)) return [name, property] as const
    const description = `The new ${name}; null removes it`
    return [name, { ...property, type: [property.type, 'null'], description }] as const
  })
  return Object.fromEntries(properties) as Record<keyof PlantContent, object>
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/** What a plant is, besides its id: passed as one value from the parser to the stores and back. */
export type PlantContent = Writable<XStatic<typeof PlantSchema>>

/** `id` is a bigint, as a number cannot tell 9007199254740993 from 9007199254740992. */
export type NewPlant = PlantContent & { id: bigint }

/** The members to change. Null removes one that may be absent. */
export type PlantUpdate = {
  [Name in keyof PlantContent]?: PlantContent[Name] | (object extends Pick<PlantContent, Name> ? null : never)
}

/**
 * Times in milliseconds since 1970. `version` is another one after every write, and never an earlier one
 * again.
 */
export type StoredPlant = NewPlant & { createdAtMs: number; updatedAtMs: number; version: number }

/** A member of the content. Code that handles the content handles these, and names none of them. */
export interface ContentMember {
  name: keyof PlantContent
  isRequired: boolean
  /** Undefined where it is absent; null where an update removes it. */
  get(content: Readonly<PlantUpdate>): string | null | undefined
  set(content: PlantContent, text: string): void
}

/** A function for each member reads and writes twice as fast as one for all of them that gets its name. */
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
 * A version for a plant that is about to be written: one in 2⁵³, by chance. A count or a time would come back
 * when the plant is deleted and made anew, or the clock is set back; and no writer needs to know of another.
 */
export function generateVersion(): number {
  return Math.floor(Math.random() * 2 ** 53)
}

/**
 * Reads a NewPlant from a parsed body in which an int64 is a bigint (`parseExactJson`).
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

/** Reads the content that replaces that of the plant of `id`. Throws as `parseNewPlant`, and for another id. */
export function parsePlant(body: unknown, id: bigint): PlantContent {
  const members = membersOf(body)
  const problems: FieldProblem[] = []
  checkSameId(members, id, problems)
  const content = readContent(members, problems)
  if (problems.length > 0) throw invalidFields(problems)
  return content
}

/** Reads a merge patch for the plant of `id`. Throws as `parsePlant`. */
export function parsePlantUpdate(body: unknown, id: bigint): PlantUpdate {
  const members = membersOf(body)
  const problems: FieldProblem[] = []
  checkSameId(members, id, problems)
  const change: Partial<Record<keyof PlantContent, string | null>> = {}
  for (const { name, isRequired } of CONTENT_MEMBERS) {
    const value = ownMember(members, name)
    if (value === undefined) continue
    if (isText(value) || (value === null && !isRequired)) change[name] = value
    else problems.push(textProblem(name, value))
  }
  if (problems.length > 0) throw invalidFields(problems)
  // The compiler does not see that null came only where it may.
  return change as PlantUpdate
}

/** Reads an id written as the plain decimal, the only form that a path or a query parameter may hold. */
export function parseIdText(text: string): bigint | undefined {
  // Longer than the longest int64: not worth a bigint.
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
      if (value === null && !isRequired) problem.message += ` Leave it out for a plant without a ${name}.`
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
    message: `id must be the id in the path, ${id}, or be left out.`,
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
