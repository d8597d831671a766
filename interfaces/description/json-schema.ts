import { isDeepStrictEqual } from 'node:util'
import * as t from 'io-ts'
import { type Bounds, instant } from '../../domain/shared/codecs.ts'
import { type JsonSchema, type Shape, shapeOf } from '../http/codecs/shapes.ts'

/** Converts codecs to JSON Schema (2020-12). Codecs with a type name become components, and are used by `$ref`. */
export interface Schemas {
  readonly of: (codec: t.Mixed) => JsonSchema
  /** Converts the codec of a member of a request. */
  readonly member: (codec: t.Mixed) => Member
  /** Adds a named component and returns a `$ref` to it. Throws if the name has another schema. */
  readonly component: (name: string, schema: JsonSchema) => JsonSchema
  /** All components so far, by name. */
  readonly components: () => Readonly<Record<string, JsonSchema>>
}

/** A member of a request. */
interface Member {
  /** Schema in a query or path, which cannot contain null. */
  readonly schema: JsonSchema
  readonly required: boolean
  /** Schema in a JSON body, which may contain null. */
  readonly inJson: JsonSchema
}

const orNull = (schema: JsonSchema): JsonSchema => {
  const { type, enum: values, ...rest } = schema
  if (typeof type !== 'string' || 'const' in schema) return { anyOf: [schema, { type: 'null' }] }
  const withNull = Array.isArray(values) && { enum: [...(values as ReadonlyArray<unknown>), null] }
  return { type: [type, 'null'], ...withNull, ...rest }
}

const boundsSchema = (bounds: Bounds): JsonSchema => {
  if (bounds.kind !== 'string') return { type: bounds.kind, minimum: bounds.min, maximum: bounds.max }
  const { min, max, pattern } = bounds
  return {
    type: 'string',
    ...(min > 0 && { minLength: min }),
    maxLength: max,
    ...(pattern !== undefined && { pattern: pattern.source }),
  }
}

/** JSON Schema types by `typeof`. */
const CONSTANT_TYPES: ReadonlyMap<unknown, string> =
  new Map([['string', 'string'], ['number', 'number'], ['boolean', 'boolean']])

const enumSchema = (values: ReadonlyArray<unknown>): JsonSchema =>
  ({ type: CONSTANT_TYPES.get(typeof values[0]) ?? 'null', enum: values })

/** Converts the simple codecs of io-ts. Null for any other codec. */
const simpleSchema = (codec: t.Mixed): JsonSchema | null => {
  if (codec instanceof t.StringType) return { type: 'string' }
  if (codec instanceof t.NumberType) return { type: 'number' }
  if (codec instanceof t.BooleanType) return { type: 'boolean' }
  if (codec instanceof t.NullType) return { type: 'null' }
  if (codec instanceof t.UnknownType) return {}
  if (codec instanceof t.AnyDictionaryType) return { type: 'object' }
  if (codec instanceof t.LiteralType) return enumSchema([codec.value])
  if (codec instanceof t.KeyofType) return enumSchema(Object.keys(codec.keys as object))
  return null
}

interface ObjectParts {
  readonly required: t.Props
  readonly optional: t.Props
}

/** Returns the members of an object codec. Null for any other codec. */
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

const objectSchema = (
  properties: Readonly<Record<string, JsonSchema>>, required: ReadonlyArray<string>,
): JsonSchema => ({ type: 'object', properties, ...(required.length > 0 && { required }) })

const hasTypeName = (codec: t.Mixed): boolean =>
  (codec instanceof t.ExactType || codec instanceof t.UnionType) && /^[A-Z][A-Za-z]*$/.test(codec.name)

/** Creates a converter without components. */
export const createSchemas = (): Schemas => {
  const components = new Map<string, JsonSchema>()

  const component = (name: string, schema: JsonSchema): JsonSchema => {
    const existing = components.get(name)
    if (existing !== undefined && !isDeepStrictEqual(existing, schema))
      throw new Error(`two schemas have the name ${name}`)
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

  const shapeSchema = (shape: Shape): JsonSchema => {
    switch (shape.kind) {
      case 'schema':
        return shape.schema
      case 'like':
      case 'optional':
        return schemaOf(shape.codec)
      case 'list':
        return { type: 'array', items: schemaOf(shape.codec), maxItems: shape.maxItems }
      case 'object': {
        const described = Object.entries(shape.members).map(([name, codec]) => [name, member(codec)] as const)
        return objectSchema(
          Object.fromEntries(described.map(([name, { inJson }]) => [name, inJson])),
          described.flatMap(([name, { required }]) => (required ? [name] : [])),
        )
      }
    }
  }

  const partsSchema = ({ required, optional }: ObjectParts): JsonSchema =>
    objectSchema(
      Object.fromEntries(Object.entries({ ...required, ...optional }).map(([name, codec]) => [name, schemaOf(codec)])),
      Object.keys(required),
    )

  const inlineSchema = (codec: t.Mixed & { readonly bounds?: Bounds }): JsonSchema => {
    const shape = shapeOf(codec)
    if (shape !== undefined) return shapeSchema(shape)
    if (codec === instant) return { ...boundsSchema(instant.bounds), format: 'date-time' }
    if (codec.bounds !== undefined) return boundsSchema(codec.bounds)
    if (codec instanceof t.ReadonlyArrayType || codec instanceof t.ArrayType)
      return { type: 'array', items: schemaOf(codec.type as t.Mixed) }
    if (codec instanceof t.UnionType) return union(codec.types as ReadonlyArray<t.Mixed>)
    const parts = objectParts(codec)
    const schema = parts === null ? simpleSchema(codec) : partsSchema(parts)
    if (schema === null) throw new Error(`the codec ${codec.name} cannot be converted to JSON Schema`)
    return schema
  }

  const schemaOf = (codec: t.Mixed): JsonSchema =>
    hasTypeName(codec) ? component(codec.name, inlineSchema(codec)) : inlineSchema(codec)

  return {
    of: schemaOf,
    member,
    component,
    components: () => Object.fromEntries(Array.from(components).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}
