import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

type Json = Readonly<Record<string, unknown>>
type Named<A> = Readonly<Record<string, A>>

interface Response {
  readonly headers?: Named<{ readonly $ref: string }>
  readonly content?: Named<{ readonly schema: Json }>
}

/** The members of an OpenAPI document that the checks read. `paths`: by path and lower-case method. */
interface Document {
  readonly paths: Named<Named<{ readonly responses: Named<Response> }>>
  readonly components: { readonly headers: Named<{ readonly required: boolean; readonly schema: Json }> }
}

/** An answer of the service. */
export interface ReceivedAnswer {
  readonly method: string
  /** The part of the URL after the address: with prefix, slashes and query. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The same schema without additional properties, because an answer must contain only described members. */
const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, closed(member)]))
  return 'properties' in schema ? { ...members, additionalProperties: false } : members
}

const matcherOf = (path: string): RegExp => {
  const pattern = path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`)
}

/** Turns `/api/v1/lives/7/?x=1` into `/lives/7`. */
const pathOnly = (path: string): string =>
  path.replace(/\?.*$/s, '').replace(/^\/api\/v1(?=\/)/, '').replace(/\/$/, '')

/** Headers that may be in an answer only when the document declares them. */
const DECLARED_HEADERS = ['retry-after', 'www-authenticate', 'link']

/** Compares answers with an OpenAPI document. Returns the problem or null. Unknown routes are not checked. */
export const createAnswerCheck = (document: Document): ((answer: ReceivedAnswer) => string | null) => {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(closed({ $id: 'description', components: document.components }) as Json)
  // Paths without parameters come first, because they take precedence.
  const paths = Object.keys(document.paths).toSorted((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
  const matchers = paths.map((path) => [path, matcherOf(path)] as const)
  const compiled = new Map<Json, ValidateFunction>()

  const compile = (schema: Json): ValidateFunction =>
    ajv.compile(JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/', '"description#/')) as Json)
  const schemaProblem = (schema: Json, value: unknown): string | null => {
    const validate = compiled.get(schema) ?? compile(schema)
    compiled.set(schema, validate)
    return validate(value) ? null : ajv.errorsText(validate.errors)
  }

  const headerProblem = (response: Response, headers: Headers): string | null => {
    const declared = Object.entries(response.headers ?? {})
    for (const [name, { $ref }] of declared) {
      const header = document.components.headers[$ref.split('/').at(-1) ?? '']
      const value = headers.get(name)
      if (value === null && header?.required !== true) continue
      if (value === null || header === undefined || schemaProblem(header.schema, value) !== null)
        return `header ${name} is ${String(value)}`
    }
    const names = declared.map(([name]) => name.toLowerCase())
    const undeclared = DECLARED_HEADERS.find((name) => headers.has(name) && !names.includes(name))
    return undeclared === undefined ? null : `header ${undeclared} is not declared`
  }

  const bodyProblem = (response: Response, { headers, text }: ReceivedAnswer): string | null => {
    const type = headers.get('content-type')?.split(';', 1)[0] ?? 'none'
    const media = response.content?.[type]
    if (media === undefined) return `type ${type} is not declared`
    const body: unknown = type === 'application/json' ? JSON.parse(text) : text
    const problem = schemaProblem(media.schema, body)
    return problem === null ? null : `${problem} in ${text.slice(0, 500)}`
  }

  return (answer) => {
    const path = pathOnly(answer.path)
    const method = answer.method.toLowerCase()
    const [name = ''] = matchers.find(([, matcher]) => matcher.test(path)) ?? []
    const operation = document.paths[name]?.[method]
    if (operation === undefined) return null
    const response = operation.responses[String(answer.status)]
    const problem =
      response === undefined
        ? 'the status is not declared'
        : (headerProblem(response, answer.headers) ?? bodyProblem(response, answer))
    if (problem === null) return null
    return `${answer.method} ${path} answered ${answer.status}, against /openapi.json: ${problem}`
  }
}

/** The members of an AsyncAPI document that the checks read. */
interface SocketDocument {
  readonly components: { readonly schemas: Json; readonly messages: Named<{ readonly payload: Json }> }
  readonly operations: Named<{ readonly messages: ReadonlyArray<{ readonly $ref: string }> }>
}

/** Compares frames of the service with an AsyncAPI document. Returns the problem or null. */
export const createFrameCheck = (document: SocketDocument): ((frame: unknown) => string | null) => {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const names = (document.operations['liveToSender']?.messages ?? []).map(({ $ref }) => $ref.split('/').at(-1) ?? '')
  const payloads = names.map((name) => document.components.messages[name]?.payload)
  const isDescribed = ajv.compile(closed({ anyOf: payloads, components: document.components }) as Json)
  return (frame) => (isDescribed(frame) ? null : `the frame ${JSON.stringify(frame)} is not in /asyncapi.json`)
}

/**
 * Reads a document of each service once. Services of one version serve equal documents, which share one check. A test
 * of upgrades also runs an older version.
 */
const fetchOnce = <A>(name: string, read: (document: unknown) => A): ((url: string) => Promise<A>) => {
  const byUrl = new Map<string, Promise<A>>()
  const byText = new Map<string, A>()
  const fetchCheck = async (url: string): Promise<A> => {
    const text = await (await fetch(`${url}/${name}`)).text()
    const check = byText.get(text) ?? read(JSON.parse(text))
    byText.set(text, check)
    return check
  }
  return (url) => {
    const result = byUrl.get(url) ?? fetchCheck(url)
    byUrl.set(url, result)
    // When the service was killed during the request, the next call sends the request again.
    result.catch(() => byUrl.delete(url))
    return result
  }
}

/** Returns the check of answers, made from the description that the service at `url` serves. */
export const answerCheckOf = fetchOnce('openapi.json', (document) => createAnswerCheck(document as Document))

/** Returns the check of frames, made from the description that the service at `url` serves. */
export const frameCheckOf = fetchOnce('asyncapi.json', (document) => createFrameCheck(document as SocketDocument))
