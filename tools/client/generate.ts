/** Makes the typed client's types and addresses from the description of the interface. */

type Json = Readonly<Record<string, unknown>>

const object = (value: unknown): Json => (value ?? {}) as Json

const isName = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text)

const nameOf = (member: string): string => (isName(member) ? member : `'${member}'`)

const members = (properties: Json, required: ReadonlyArray<unknown>, indent: string): string => {
  const lines = Object.entries(properties).map(
    ([name, schema]) => `${indent}  readonly ${nameOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(object(schema), `${indent}  `)}\n`,
  )
  return lines.length === 0 ? 'Readonly<Record<string, never>>' : `{\n${lines.join('')}${indent}}`
}

const PRIMITIVES: Readonly<Record<string, string>> = { integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' }

const ofType = (type: string, schema: Json, indent: string): string => {
  const primitive = PRIMITIVES[type]
  if (primitive !== undefined) return primitive
  if (type === 'array') return `ReadonlyArray<${typeOf(object(schema['items']), indent)}>`
  if (schema['properties'] === undefined) return 'Readonly<Record<string, unknown>>'
  return members(object(schema['properties']), (schema['required'] ?? []) as ReadonlyArray<unknown>, indent)
}

const unionOf = (types: ReadonlyArray<string>): string => Array.from(new Set(types)).join(' | ')

/** The type of a JSON Schema, as far as types go: bounds and patterns are no part of it. */
const typeOf = (schema: Json, indent: string): string => {
  if (typeof schema['$ref'] === 'string') return schema['$ref'].split('/').at(-1) ?? 'unknown'
  if (Array.isArray(schema['enum'])) return unionOf(schema['enum'].map((value) => (typeof value === 'string' ? `'${value}'` : String(value))))
  if (Array.isArray(schema['anyOf'])) return unionOf(schema['anyOf'].map((one) => typeOf(object(one), indent)))
  const types = [schema['type'] ?? []].flat() as ReadonlyArray<unknown>
  return types.length === 0 ? 'unknown' : unionOf(types.map((type) => ofType(String(type), schema, indent)))
}

const PLACES = { path: 'path', query: 'query', header: 'headers' } as const

interface Parameter {
  readonly name: string
  readonly in: keyof typeof PLACES
  readonly required: boolean
  readonly schema: Json
}

const contentTypes = (described: unknown): ReadonlyArray<readonly [string, Json]> =>
  Object.entries(object(object(described)['content'])).map(([type, media]) => [type, object(object(media)['schema'])])

const requestType = (operation: Json): string => {
  const parameters = (operation['parameters'] ?? []) as ReadonlyArray<Parameter>
  const parts = Object.entries(PLACES).flatMap(([place, member]) => {
    const here = parameters.filter((parameter) => parameter.in === place)
    const required = here.filter((parameter) => parameter.required).map(({ name }) => name)
    const properties = Object.fromEntries(here.map(({ name, schema }) => [name, schema]))
    return here.length === 0 ? [] : [`      readonly ${member}${required.length === 0 ? '?' : ''}: ${members(properties, required, '      ')}\n`]
  })
  const mark = object(operation['requestBody'])['required'] === true ? '' : '?'
  const body = contentTypes(operation['requestBody']).map(([, schema]) => `      readonly body${mark}: ${typeOf(schema, '      ')}\n`)
  return parts.length + body.length === 0 ? 'Readonly<Record<string, never>>' : `{\n${[...parts, ...body].join('')}    }`
}

const answerType = (operation: Json): string => {
  const answers = contentTypes(object(operation['responses'])['200'])
  return unionOf(answers.map(([type, schema]) => (type === 'application/json' ? typeOf(schema, '    ') : 'string')))
}

interface Named {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly operation: Json
}

const operationsOf = (document: Json): ReadonlyArray<Named> =>
  Object.entries(object(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(object(methods)).map(([method, operation]) => ({
      id: String(object(operation)['operationId']), method: method.toUpperCase(), path, operation: object(operation),
    })),
  )

const addressOf = ({ id, method, path, operation }: Named): string => {
  const [body] = contentTypes(operation['requestBody'])
  return `  ${id}: { method: '${method}', path: '${path}', body: ${body === undefined ? 'null' : `'${body[0]}'`} },\n`
}

/** Text of a TypeScript module: a type for each named schema, `Operations` and `OPERATIONS`. */
export const generateClient = (document: Json): string => {
  const schemas = Object.entries(object(object(document['components'])['schemas']))
  const operations = operationsOf(document)
  return [
    '// Made by tools/client/make.ts from the description of the interface: change the table of routes and run that again.\n',
    ...schemas.map(([name, schema]) => `export interface ${name} ${typeOf(object(schema), '')}\n`),
    '/** What each operation takes, and answers with 200. */',
    'export interface Operations {',
    ...operations.map(({ id, operation }) =>
      `  readonly ${id}: {\n    readonly request: ${requestType(operation)}\n    readonly answer: ${answerType(operation)}\n  }`),
    '}\n',
    `export const OPERATIONS = {\n${operations.map(addressOf).join('')}} as const`,
    '',
  ].join('\n')
}
