import { code } from './markdown.ts'

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const schemasOf = (value: unknown): ReadonlyArray<Schema> => listOf(value).filter(isSchema)

const boundsOf = (schema: Schema, least: string, most: string, unit = ''): string => {
  const [min, max] = [schema[least], schema[most]]
  if (typeof max !== 'number' || max >= Number.MAX_SAFE_INTEGER)
    return typeof min === 'number' && min > 0 ? `, at least ${min}${unit}` : ''
  return typeof min === 'number' ? `, ${min} to ${max}${unit}` : `, at most ${max}${unit}`
}

/** Describes the type of a value in a few words. */
export const typeOf = (schema: Schema): string => {
  const { $ref, type, enum: values, anyOf, items, maxItems } = schema
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? ''
  if (Array.isArray(values)) return values.map((value) => code(JSON.stringify(value))).join(', ')
  if (Array.isArray(anyOf)) return schemasOf(anyOf).map(typeOf).join(' or ')
  if (Array.isArray(type)) return [typeOf({ ...schema, type: listOf(type)[0] }), ...listOf(type).slice(1)].join(' or ')
  if (type === 'array') {
    const bound = typeof maxItems === 'number' ? `, at most ${maxItems}` : ''
    return `list of ${isSchema(items) ? typeOf(items) : 'anything'}${bound}`
  }
  if (type === 'integer' || type === 'number') return `${type}${boundsOf(schema, 'minimum', 'maximum')}`
  if (schema['format'] === 'date-time') return 'date and time'
  if (type === 'string') return `text${boundsOf(schema, 'minLength', 'maxLength', ' characters')}`
  return typeof type === 'string' ? type : 'any JSON'
}

interface Member {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly fallback: unknown
  readonly description: string
}

/** Lists the members of an object schema. References are looked up in `components`. */
export const membersOf = (
  schema: Schema,
  components: Readonly<Record<string, unknown>> = {},
): ReadonlyArray<Member> => {
  const { $ref, properties } = schema
  const referred = typeof $ref === 'string' ? components[$ref.split('/').at(-1) ?? ''] : undefined
  if (isSchema(referred)) return membersOf(referred, components)
  const required = listOf(schema['required'])
  return Object.entries(isSchema(properties) ? properties : {}).map(([name, member]) => {
    const memberSchema = isSchema(member) ? member : {}
    return {
      name,
      type: typeOf(memberSchema),
      required: required.includes(name),
      fallback: memberSchema['default'],
      description: typeof memberSchema['description'] === 'string' ? memberSchema['description'] : '',
    }
  })
}
