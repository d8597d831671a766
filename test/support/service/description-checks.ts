import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

type Json = Readonly<Record<string, unknown>>

interface Response {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>>>
  readonly components: { readonly headers: Readonly<Record<string, { readonly required: boolean; readonly schema: Json }>> }
}

/** An answer as it came over the wire. */
export interface Seen {
  readonly method: string
  /** Behind the service's address: with prefix, slashes and query. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The same schema without room for members that it does not name: an answer has exactly what is described. */
const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, closed(member)]))
  return 'properties' in schema ? { ...members, additionalProperties: false } : members
}

const matcherOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)

/** `/api/v1/lives/7/?x=1` as `/lives/7`. */
const bare = (path: string): string => path.replace(/\?.*$/s, '').replace(/^\/api\/v1(?=\/)/, '').replace(/\/$/, '')

/** Compares answers with an OpenAPI document: returns what is wrong, or null. Only what no route took is left out. */
export const createAnswerCheck = (document: Document): ((seen: Seen) => string | null) => {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(closed({ $id: 'description', components: document.components }) as Json)
  // The paths without a parameter come first: they win.
  const paths = Object.keys(document.paths).toSorted((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
  const matchers = paths.map((path) => [path, matcherOf(path)] as const)

  const compiled = new Map<Json, ValidateFunction>()

  /** What is wrong with a value, or null. */
  const misfit = (schema: Json, value: unknown): string | null => {
    const validate =
      compiled.get(schema) ?? ajv.compile(JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/', '"description#/')) as Json)
    compiled.set(schema, validate)
    return validate(value) ? null : ajv.errorsText(validate.errors)
  }

  const headerProblem = (declared: Response, headers: Headers): string | null => {
    for (const [name, { $ref }] of Object.entries(declared.headers ?? {})) {
      const header = document.components.headers[$ref.split('/').at(-1) ?? '']
      const value = headers.get(name)
      if (value === null && header?.required !== true) continue
      if (value === null || header === undefined || misfit(header.schema, value) !== null) return `header ${name} is ${String(value)}`
    }
    const isDeclared = (name: string): boolean => Object.keys(declared.headers ?? {}).some((one) => one.toLowerCase() === name)
    const odd = ['retry-after', 'www-authenticate', 'link'].find((name) => headers.has(name) && !isDeclared(name))
    return odd === undefined ? null : `header ${odd} is not declared`
  }

  const bodyProblem = (declared: Response, { headers, text }: Seen): string | null => {
    const type = headers.get('content-type')?.split(';', 1)[0] ?? 'none'
    const media = declared.content?.[type]
    if (media === undefined) return `type ${type} is not declared`
    const body: unknown = type === 'application/json' ? JSON.parse(text) : text
    const problem = misfit(media.schema, body)
    return problem === null ? null : `${problem} in ${text.slice(0, 500)}`
  }

  return (seen) => {
    const path = bare(seen.path)
    const template = matchers.find(([name, matcher]) => matcher.test(path) && seen.method.toLowerCase() in (document.paths[name] ?? {}))?.[0]
    if (template === undefined) return null
    const declared = document.paths[template]?.[seen.method.toLowerCase()]?.responses[String(seen.status)]
    const problem = declared === undefined ? 'the status is not declared' : (headerProblem(declared, seen.headers) ?? bodyProblem(declared, seen))
    return problem === null ? null : `${seen.method} ${path} answered ${seen.status}, against /openapi.json: ${problem}`
  }
}

interface SocketDocument {
  readonly components: { readonly schemas: Json; readonly messages: Readonly<Record<string, { readonly payload: Json }>> }
  readonly operations: Readonly<Record<string, { readonly messages: ReadonlyArray<{ readonly $ref: string }> }>>
}

/** Compares frames of the service with an AsyncAPI document: returns what is wrong, or null. */
export const createFrameCheck = (document: SocketDocument): ((frame: unknown) => string | null) => {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const names = (document.operations['liveToSender']?.messages ?? []).map(({ $ref }) => $ref.split('/').at(-1) ?? '')
  const payloads = names.map((name) => document.components.messages[name]?.payload)
  const fits = ajv.compile(closed({ anyOf: payloads, components: document.components }) as Json)
  return (frame) => (fits(frame) ? null : `the frame ${JSON.stringify(frame)} is not in /asyncapi.json`)
}

/** What a service says of itself; asked for once, because all services of a test are made of the same code. */
const told = <A>(name: string, read: (document: unknown) => A): ((url: string) => Promise<A>) => {
  let known: Promise<A> | null = null
  return (url) => {
    known ??= fetch(`${url}/${name}`).then(async (response) => read(await response.json()))
    // A service that was killed meanwhile told nothing: the next one is asked.
    known.catch(() => {
      known = null
    })
    return known
  }
}

/** The check of answers, by the description that the service at `url` serves. */
export const answerCheckOf = told('openapi.json', (document) => createAnswerCheck(document as Document))

/** The check of frames in the same way. */
export const frameCheckOf = told('asyncapi.json', (document) => createFrameCheck(document as SocketDocument))
