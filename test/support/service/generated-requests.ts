import fc from 'fast-check'
import { valuesOf, type Schema } from './values-of-schema.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

/** An operation of an OpenAPI document. */
export interface Operation {
  readonly operationId: string
  readonly security: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { examples?: object }>> }>>
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A request that the description allows, or (`isValid` false) forbids in one place. */
export interface GeneratedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly isValid: boolean
}

type Members = Readonly<Record<string, unknown>>

const withoutRefs = (schema: unknown, document: Document): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => withoutRefs(one, document))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref } = schema as { readonly $ref?: string }
  if ($ref !== undefined) return withoutRefs(document.components.schemas[$ref.split('/').at(-1) ?? ''], document)
  return Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, withoutRefs(member, document)]))
}

/** Returns the media type and the schema of the body of an operation, without `$ref`. */
export const bodyOf = (operation: Operation, document: Document): readonly [string, Schema] | null => {
  const [content] = Object.entries(operation.requestBody?.content ?? {})
  return content === undefined ? null : [content[0], withoutRefs(content[1].schema, document) as Schema]
}

const parametersIn = (operation: Operation, part: Parameter['in']): fc.Arbitrary<Members> => {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === part)
  const values = parameters.map(({ name, schema }) => [name, valuesOf(schema)] as const)
  return fc.record(Object.fromEntries(values), {
    requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
  })
}

/** No member of the interface accepts this value. */
const WRONG = { wrong: [true] }

/** Gives one member of a body a value that it cannot have. */
const spoiled = (body: Members, names: ReadonlyArray<string>, choice: number): Members => {
  const name = names[choice % names.length]
  return name === undefined ? body : { ...body, [name]: name === 'config' ? 'wrong' : WRONG }
}

const queryOf = (query: Members): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]))
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`
}

const encode = (type: string, body: Members): string =>
  type === 'application/json' ? JSON.stringify(body) : new URLSearchParams(body as Record<string, string>).toString()

/**
 * Generates requests of an operation from its description. `ids`: the ids in paths. `schema` replaces the schema of the
 * body.
 */
export const requestsOf = (
  path: string,
  operation: Operation,
  document: Document,
  ids: fc.Arbitrary<number>,
  schema?: Schema,
): fc.Arbitrary<GeneratedRequest> => {
  const [type, described] = bodyOf(operation, document) ?? [null, {}]
  const bodySchema = schema ?? described
  const names = type === 'application/json' ? Object.keys(bodySchema['properties'] ?? {}) : []
  const parts = fc.record({
    path: parametersIn(operation, 'path'),
    query: parametersIn(operation, 'query'),
    header: parametersIn(operation, 'header'),
    body: (type === null ? fc.constant({}) : valuesOf(bodySchema)) as fc.Arbitrary<Members>,
    id: ids,
    flaw: names.length === 0 ? fc.constant(null) : fc.option(fc.nat()),
  })
  return parts.map(({ path: inPath, query, header, body, id, flaw }) => {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(name === 'id' ? id : inPath[name]))
    const sent = flaw === null ? body : spoiled(body, names, flaw)
    return {
      path: `${filled}${queryOf(query)}`,
      headers: { ...(header as Record<string, string>), ...(type !== null && { 'Content-Type': type }) },
      body: type === null ? undefined : encode(type, sent),
      isValid: flaw === null,
    }
  })
}
