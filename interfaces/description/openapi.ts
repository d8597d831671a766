import * as t from 'io-ts'
import { type Access, type Route, textFile } from '../http/route.ts'
import { type JsonSchema, shapeOf } from '../http/codecs/shapes.ts'
import { exampleBody, exampleOf } from './examples.ts'
import { createSchemas, type Schemas } from './json-schema.ts'
import { refusalsByStatus } from './refusals.ts'
import { SECURITY_SCHEMES, HEADERS, INFO, PARAMETERS, PROPERTIES, TAGS } from './texts.ts'

const errorBody = t.strict({ detail: t.string }, 'Error')
const issue = t.strict({ type: t.string, loc: t.readonlyArray(t.union([t.string, t.number])), msg: t.string }, 'Issue')
const issuesBody = t.strict({ detail: t.readonlyArray(issue) }, 'Issues')

const JSON_TYPE = 'application/json'

/** Converts `/lives/:id` to `/lives/{id}`. */
const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const headersOf = (names: ReadonlyArray<string>): JsonSchema =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

type Part = 'path' | 'query' | 'header'

/** Route codecs have header names in lower case. The description shows them in title case. */
const parameterName = (part: Part, name: string): string =>
  part === 'header' ? name.split('-').map(pascal).join('-') : name

const parametersOf = (part: Part, codec: t.Mixed | undefined, schemas: Schemas): ReadonlyArray<JsonSchema> => {
  const shape = codec === undefined ? undefined : shapeOf(codec)
  if (shape?.kind !== 'object') return []
  // OpenAPI does not allow a parameter named Authorization. The summaries explain it.
  return Object.entries(shape.members).filter(([member]) => member !== 'authorization').map(([member, memberCodec]) => {
    const { schema, required } = schemas.member(memberCodec)
    const name = parameterName(part, member)
    const isList = schema['type'] === 'array'
    return {
      name,
      in: part,
      description: PARAMETERS[name] ?? name,
      required: part === 'path' || (required && !isList),
      ...(isList && { style: 'form', explode: true }),
      schema,
    }
  })
}

const BODY_TYPES = { json: JSON_TYPE, form: 'application/x-www-form-urlencoded' } as const

/** Adds descriptions to the members of a request schema. */
const withTexts = (schema: JsonSchema): JsonSchema => {
  const properties = schema['properties'] as Readonly<Record<string, JsonSchema>> | undefined
  if (properties === undefined) return schema
  const described = Object.entries(properties).map(([name, member]) =>
    [name, { ...withTexts(member), description: PROPERTIES[name] ?? name }])
  return { ...schema, properties: Object.fromEntries(described) }
}

const requestBodyOf = (route: Route, operationId: string, schemas: Schemas): JsonSchema => {
  if (route.body === undefined) return {}
  const body = withTexts(schemas.of(route.body.codec))
  const schema = schemas.component(`${pascal(operationId)}Request`, body)
  const example = exampleBody(operationId, body, schemas.components())
  // A missing body counts as `{}`, so it is required only if a member is required.
  const required = body['required'] !== undefined
  return { requestBody: { required, content: { [BODY_TYPES[route.body.kind]]: { schema, example } } } }
}

/** Returns the codec of the JSON response of a route that may also return text. */
const jsonCodec = (route: Route): t.Mixed => {
  const { codec, textTypes } = route.response
  if (textTypes === undefined || !(codec instanceof t.UnionType)) return codec
  return (codec.types as ReadonlyArray<t.Mixed>).find((type) => type !== textFile) ?? codec
}

/** Removes the parameters of a media type. */
const bareType = (mediaType: string): string => mediaType.split(';', 1)[0] ?? mediaType

const contentOf = (route: Route, codec: t.Mixed, schemas: Schemas): JsonSchema => {
  const { mediaType, textTypes = [] } = route.response
  const schema = schemas.of(codec)
  if (mediaType !== undefined) return { [bareType(mediaType)]: { schema } }
  const json = { schema, example: exampleOf(schema, schemas.components()) }
  const texts = textTypes.map((type) => [bareType(type), { schema: { type: 'string' } }])
  return { [JSON_TYPE]: json, ...Object.fromEntries(texts) }
}

const hasPagination = (content: JsonSchema): boolean => JSON.stringify(content).includes('/Pagination"')

const answersOf = (route: Route, schemas: Schemas): JsonSchema => {
  const byStatus = Object.entries(route.response.byStatus ?? { 200: jsonCodec(route) })
  return Object.fromEntries(
    byStatus.map(([status, codec]) => {
      const content = contentOf(route, codec, schemas)
      const links = route.method === 'GET' && hasPagination(content) ? ['Link'] : []
      const names = ['X-Request-ID', 'X-Service-Version', ...links]
      return [status, { description: status === '200' ? 'Success' : 'Unavailable', headers: headersOf(names), content }]
    }),
  )
}

const refusalsSchema = (route: Route, schemas: Schemas): JsonSchema =>
  Object.fromEntries(
    Array.from(refusalsByStatus(route), ([status, refusals]) => {
      const details = refusals.map(({ response: { body } }) =>
        typeof body.detail === 'string' ? body.detail : 'The request is not valid')
      const names = new Set(refusals.flatMap(({ response }) => Object.keys(response.headers)))
      const isText = refusals.every(({ response }) => typeof response.body.detail === 'string')
      const examples = Object.fromEntries(refusals.map(({ tag, response }) => [tag, { value: response.body }]))
      const schema = schemas.of(isText ? errorBody : issuesBody)
      return [
        String(status),
        {
          description: Array.from(new Set(details)).join('; '),
          headers: headersOf(['X-Request-ID', 'X-Service-Version', ...names]),
          content: { [JSON_TYPE]: { schema, examples } },
        },
      ]
    }),
  )

/** The credentials that a route accepts. */
const SECURITY: Readonly<Record<Access, ReadonlyArray<JsonSchema>>> = {
  public: [],
  private: [{ bearer: [] }, { apiKey: [] }],
  login: [{ bearer: [] }],
  admin: [{ bearer: [] }],
}

const operationOf = (route: Route, operationId: string, schemas: Schemas): JsonSchema => {
  const parameters = [
    ...parametersOf('path', route.params, schemas),
    ...parametersOf('query', route.query, schemas),
    ...parametersOf('header', route.headers, schemas),
  ]
  const onlyLogins = route.access === 'login' || route.access === 'admin'
  return {
    operationId,
    summary: route.summary ?? operationId,
    ...(onlyLogins && { description: 'Accepts only the token of a login. An API token gets 403.' }),
    tags: [route.access === 'public' ? 'Public' : 'Private'],
    security: SECURITY[route.access],
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(route, operationId, schemas),
    responses: { ...refusalsSchema(route, schemas), ...answersOf(route, schemas) },
  }
}

/** Returns the OpenAPI 3.1 document of all routes that have an operationId, without `servers`. */
export const describeInterface = (routes: ReadonlyArray<Route>): JsonSchema => {
  const schemas = createSchemas()
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const route of routes) {
    if (route.operationId === undefined) continue
    const path = templateOf(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, route.operationId, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: INFO,
    tags: TAGS,
    paths,
    components: { schemas: schemas.components(), headers: HEADERS, securitySchemes: SECURITY_SCHEMES },
  }
}
