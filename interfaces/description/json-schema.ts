import { isDeepStrictEqual } from 'node:util'
import * as t from 'io-ts'
import { instant } from '../../domain/shared/codecs.ts'
import type { Bounds } from '../../domain/shared/codecs.ts'
import { shapeOf } from '../http/codecs/shapes.ts'
import type { JsonSchema, Shape } from '../http/codecs/shapes.ts'

/** Turns codecs into JSON Schema (2020-12); codecs named like a type become components, and are referred to. */
export interface Schemas {
  readonly of: (codec: t.Mixed) => JsonSchema
  /** Schema of a member of a request: what it reads where it is sent, whether it must be, what counts where it is not. */
  readonly member: (codec: t.Mixed) => Member
  /** Puts a schema under a name and refers to it; a name stands for one schema. */
  readonly component: (name: string, schema: JsonSchema) => JsonSchema
  /** All of them so far, by name. */
  readonly components: () => Readonly<Record<string, JsonSchema>>
}

interface Member {
  readonly schema: JsonSchema
  readonly required: boolean
  /** The same where `null` can be sent, as JSON can and a query cannot. */
  readonly inJson: JsonSchema
}

/** `schema` or null. */
const orNull = (schema: JsonSchema): JsonSchema => {
  const { type, enum: values, ...rest } = schema
  if (typeof type !== 'string' || 'const' in schema) return { anyOf: [schema, { type: 'null' }] }
  return { type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...(values as ReadonlyArray<unknown>), null] } : {}), ...rest }
}

const ofBounds = (bounds: Bounds): JsonSchema => {
  if (bounds.kind !== 'string') return { type: bounds.kind, minimum: bounds.min, maximum: bounds.max }
  const { min, max, pattern } = bounds
  return {
    type: 'string',
    ...(min > 0 && { minLength: min }),
    maxLength: max,
    ...(pattern !== undefined && { pattern: pattern.source }),
  }
}

const CONSTANTS: ReadonlyMap<unknown, string> = new Map([['string', 'string'], ['number', 'number'], ['boolean', 'boolean']])

const ofValues = (values: ReadonlyArray<unknown>): JsonSchema => ({ type: CONSTANTS.get(typeof values[0]) ?? 'null', enum: values })

/** What io-ts' own codecs without parts read. */
const ofSimple = (codec: t.Mixed): JsonSchema | null => {
  if (codec instanceof t.StringType) return { type: 'string' }
  if (codec instanceof t.NumberType) return { type: 'number' }
  if (codec instanceof t.BooleanType) return { type: 'boolean' }
  if (codec instanceof t.NullType) return { type: 'null' }
  if (codec instanceof t.UnknownType) return {}
  if (codec instanceof t.AnyDictionaryType) return { type: 'object' }
  if (codec instanceof t.LiteralType) return ofValues([codec.value])
  if (codec instanceof t.KeyofType) return ofValues(Object.keys(codec.keys as object))
  return null
}

interface ObjectParts {
  readonly required: t.Props
  readonly optional: t.Props
}

/** The members of an object's codec; null for any other codec. */
export const objectParts = (codec: t.Mixed): ObjectParts | null => {
  if (codec instanceof t.ExactType) return objectParts(codec.type as t.Mixed)
  if (codec instanceof t.InterfaceType) return { required: codec.props as t.Props, optional: {} }
  if (codec instanceof t.PartialType) return { required: {}, optional: codec.props as t.Props }
  if (!(codec instanceof t.IntersectionType)) return null
  const parts = (codec.types as ReadonlyArray<t.Mixed>).map(objectParts).filter((part) => part !== null)
  return {
    required: Object.assign({}, ...parts.map(({ required }) => required)) as t.Props,
    optional: Object.assign({}, ...parts.map(({ optional }) => optional)) as t.Props,
  }
}

const objectSchema = (properties: Readonly<Record<string, JsonSchema>>, required: ReadonlyArray<string>): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})

const hasTypeName = (codec: t.Mixed): boolean =>
  (codec instanceof t.ExactType || codec instanceof t.UnionType) && /^[A-Z][A-Za-z]*$/.test(codec.name)

/** An empty collection of components, and what fills it. */
export const createSchemas = (): Schemas => {
  const components = new Map<string, JsonSchema>()

  const component = (name: string, schema: JsonSchema): JsonSchema => {
    const known = components.get(name)
    if (known !== undefined && !isDeepStrictEqual(known, schema)) throw new Error(`two schemas are named ${name}`)
    components.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  const union = (codecs: ReadonlyArray<t.Mixed>): JsonSchema => {
    const [first, second] = codecs
    if (codecs.length === 2 && first !== undefined && second instanceof t.NullType) return orNull(schemaOf(first))
    return { anyOf: codecs.map(schemaOf) }
  }

  const member = (codec: t.Mixed): Member => {
    const shape = shapeOf(codec)
    if (shape?.kind === 'like' && shapeOf(shape.codec)?.kind === 'optional') return member(shape.codec)
    if (shape?.kind !== 'optional') return { schema: schemaOf(codec), inJson: schemaOf(codec), required: true }
    const { fallback } = shape
    const hasDefault = fallback !== undefined && fallback !== null
    const schema = { ...schemaOf(shape.codec), ...(hasDefault && { default: fallback }) }
    return { schema, inJson: shape.nullable ? orNull(schema) : schema, required: false }
  }

  const ofShape = (shape: Shape): JsonSchema => {
    switch (shape.kind) {
      case 'schema':
        return shape.schema
      case 'like':
      case 'optional':
        return schemaOf(shape.codec)
      case 'list':
        return {
          type: 'array',
          items: schemaOf(shape.codec),
          ...(shape.maxItems !== undefined && { maxItems: shape.maxItems }),
        }
      case 'object': {
        const described = Object.entries(shape.members).map(([name, codec]) => [name, member(codec)] as const)
        return objectSchema(
          Object.fromEntries(described.map(([name, { inJson }]) => [name, inJson])),
          described.flatMap(([name, { required }]) => (required ? [name] : [])),
        )
      }
    }
  }

  const ofParts = ({ required, optional }: ObjectParts): JsonSchema =>
    objectSchema(
      Object.fromEntries(Object.entries({ ...required, ...optional }).map(([name, codec]) => [name, schemaOf(codec)])),
      Object.keys(required),
    )

  const unnamed = (codec: t.Mixed & { readonly bounds?: Bounds }): JsonSchema => {
    const shape = shapeOf(codec)
    if (shape !== undefined) return ofShape(shape)
    if (codec === instant) return { ...ofBounds(instant.bounds), format: 'date-time' }
    if (codec.bounds !== undefined) return ofBounds(codec.bounds)
    if (codec instanceof t.ReadonlyArrayType || codec instanceof t.ArrayType) return { type: 'array', items: schemaOf(codec.type as t.Mixed) }
    if (codec instanceof t.UnionType) return union(codec.types as ReadonlyArray<t.Mixed>)
    const parts = objectParts(codec)
    const schema = parts === null ? ofSimple(codec) : ofParts(parts)
    if (schema === null) throw new Error(`no JSON Schema for the codec ${codec.name}`)
    return schema
  }

  const schemaOf = (codec: t.Mixed): JsonSchema => (hasTypeName(codec) ? component(codec.name, unnamed(codec)) : unnamed(codec))

  return {
    of: schemaOf,
    member,
    component,
    components: () => Object.fromEntries(Array.from(components).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}
