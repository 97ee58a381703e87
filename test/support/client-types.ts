/** As much of JSON Schema as the document of the service uses for what the client sends and reads. */
interface Schema {
  $ref?: string
  description?: string
  type?: string | string[]
  format?: string
  enum?: readonly string[]
  required?: readonly string[]
  properties?: Record<string, Schema>
  items?: Schema
  allOf?: readonly Schema[]
}

const HEADER = `// Written by "npm run client-types" from the schemas in openapi.json; a test compares. Change the schemas.
`

/** An error is told by RequestError instead, a class. */
const LEFT_OUT = ['Error']

/** The TypeScript types of every schema in an OpenAPI document, documented with the schemas' own words. */
export function clientTypes(document: { components: { schemas: Record<string, Schema> } }): string {
  const schemas = Object.entries(document.components.schemas).filter(([name]) => !LEFT_OUT.includes(name))
  return HEADER + schemas.map(([name, schema]) => interfaceOf(name, schema)).join('')
}

function interfaceOf(name: string, schema: Schema): string {
  const parts = schema.allOf ?? [schema]
  const bases = parts.flatMap(({ $ref }) => ($ref === undefined ? [] : [nameIn($ref)]))
  const heir = bases.length === 0 ? '' : ` extends ${bases.join(', ')}`
  const members = parts.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(([member, property]) => {
      const isOptional = !required.includes(member)
      return `${comment(property.description, '  ')}  ${member}${isOptional ? '?' : ''}: ${typeOf(property)}\n`
    }),
  )
  return `\n${comment(schema.description, '')}export interface ${name}${heir} {\n${members.join('')}}\n`
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameIn(schema.$ref)
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ')
  const { type } = schema
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' | ')
  if (type === 'integer') return schema.format === 'int64' ? 'bigint' : 'number'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'array' && schema.items !== undefined) return `(${typeOf(schema.items)})[]`
  throw new Error(`no type for ${JSON.stringify(schema)}`)
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text} */\n`
}
