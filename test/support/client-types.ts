/** As much of JSON Schema as the document of the service uses for what the client sends and reads. */
interface Schema {
  $ref?: string
  description?: string
  type?: string | string[]
  format?: string
  enum?: readonly string[]
  const?: string
  required?: readonly string[]
  properties?: Record<string, Schema>
  items?: Schema
  allOf?: readonly Schema[]
  oneOf?: readonly Schema[]
}

const HEADER = `// Written by "npm run client-types" from the schemas in openapi.json; a test compares. Change the schemas.
`

/** An error is told by RequestError instead, a class. */
const LEFT_OUT = ['Error']

/** The TypeScript types of every schema in an OpenAPI document, documented with the schemas' own words. */
export function clientTypes(document: { components: { schemas: Record<string, Schema> } }): string {
  const schemas = Object.entries(document.components.schemas).filter(([name]) => !LEFT_OUT.includes(name))
  return HEADER + schemas.map(([name, schema]) => declarationOf(name, schema)).join('')
}

function declarationOf(name: string, schema: Schema): string {
  const about = comment(schema.description, '')
  if (schema.oneOf !== undefined) {
    const options = schema.oneOf.map(
      (option) => `${comment(option.description, '  ')}  | {\n${membersOf(option, '      ')}    }`,
    )
    return `\n${about}export type ${name} =\n${options.join('\n')}\n`
  }
  const parts = schema.allOf ?? [schema]
  const bases = parts.flatMap(({ $ref }) => ($ref === undefined ? [] : [nameIn($ref)]))
  const heir = bases.length === 0 ? '' : ` extends ${bases.join(', ')}`
  return `\n${about}export interface ${name}${heir} {\n${parts.map((part) => membersOf(part, '  ')).join('')}}\n`
}

function membersOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const members = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${comment(property.description, indent)}${indent}${name}${mark}: ${typeOf(property)}\n`
  })
  return members.join('')
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameIn(schema.$ref)
  if (schema.const !== undefined) return `'${schema.const}'`
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ')
  const { type } = schema
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' | ')
  if (type === 'integer') return schema.format === 'int64' ? 'bigint' : 'number'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'array' && schema.items !== undefined) {
    const item = typeOf(schema.items)
    return item.includes('|') ? `(${item})[]` : `${item}[]`
  }
  throw new Error(`no type for ${JSON.stringify(schema)}`)
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text} */\n`
}
