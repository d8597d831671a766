import { describeInterface } from '../../interfaces/description/openapi.ts'
import { refusalsByStatus } from '../../interfaces/description/refusals.ts'
import { PARAMETERS } from '../../interfaces/description/texts.ts'
import { exampleResponse } from '../../interfaces/http/errors.ts'
import { ROUTES } from '../../interfaces/http/route-table.ts'
import type { Access, Route } from '../../interfaces/http/route.ts'
import { code, page, table } from './markdown.ts'
import { membersOf, typeOf } from './schemas.ts'

const ACCESS: Readonly<Record<Access, string>> = {
  public: 'anybody',
  private: 'a login or an API token',
  login: 'a login',
  admin: 'the login of an administrator',
}

type Json = Readonly<Record<string, unknown>>
const part = (of: unknown, name: string): Json => ((of as Json | undefined)?.[name] ?? {}) as Json

const OPENAPI = describeInterface(ROUTES)
const SCHEMAS = part(OPENAPI['components'], 'schemas')

const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')

const described = ROUTES.filter(({ operationId }) => operationId !== undefined)

const operationOf = ({ method, path }: Route): Json => part(part(OPENAPI['paths'], templateOf(path)), method.toLowerCase())

const fallbackOf = (value: unknown): string => (value === undefined ? '' : code(JSON.stringify(value)))

const contentOf = (of: unknown): Json => {
  const content = part(of, 'content')
  const [first] = Object.values(content)
  return part(first, 'schema')
}

const inputsOf = (route: Route): ReadonlyArray<ReadonlyArray<string>> => {
  const operation = operationOf(route)
  const parameters = (operation['parameters'] ?? []) as ReadonlyArray<Json>
  const body = membersOf(contentOf(part(operation, 'requestBody')), SCHEMAS)
  return [
    ...parameters.map((parameter) => {
      const schema = part(parameter, 'schema')
      const name = String(parameter['name'])
      return [code(name), `${String(parameter['in'])}${parameter['required'] === true ? '' : ', optional'}`, typeOf(schema), fallbackOf(schema['default']), PARAMETERS[name] ?? '']
    }),
    ...body.map(({ name, type, required, fallback, description }) => [
      code(name), `body${required ? '' : ', optional'}`, name === 'config' ? '[session settings](session-settings.md)' : type, fallbackOf(fallback), description,
    ]),
  ]
}

const answersOf = (route: Route): ReadonlyArray<ReadonlyArray<string>> => {
  const done = Object.entries(route.response.byStatus ?? { 200: null }).map(([status]) => {
    const schema = contentOf(part(part(operationOf(route), 'responses'), status))
    const names = membersOf(schema, SCHEMAS).map(({ name, type }) => `${code(name)}: ${type}`)
    return [status, names.length === 0 ? route.response.mediaType ?? 'JSON' : names.join('; ')]
  })
  const own = new Set(route.refusals)
  const refused = Array.from(refusalsByStatus(route)).flatMap(([status, refusals]) =>
    refusals.filter(({ tag }) => own.has(tag)).map(({ response }) => [String(status), textOf(response.body.detail)]),
  )
  return [...done, ...refused.toSorted(([a = ''], [b = '']) => a.localeCompare(b))]
}

const textOf = (detail: ReturnType<typeof exampleResponse>['body']['detail']): string =>
  typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')

const sectionOf = (route: Route): string => {
  const inputs = inputsOf(route)
  return [
    `### ${route.method} ${templateOf(route.path)}`,
    `${route.summary ?? ''}. For ${ACCESS[route.access]}.`,
    ...(inputs.length === 0 ? [] : [table(['Input', 'In', 'Value', 'Default', 'Meaning'], inputs)]),
    table(['Status', 'Answer'], answersOf(route)),
  ].join('\n\n')
}

/** Objects that answers and requests refer to by name. */
const objectSection = (name: string): string => {
  const members = membersOf(part(SCHEMAS, name))
  return `### ${name}\n\n${table(['Member', 'Value', ''], members.map(({ name, type, required }) => [code(name), type, required ? '' : 'optional']))}`
}

const objectNames = Object.keys(SCHEMAS).filter((name) => !name.endsWith('Request') && membersOf(part(SCHEMAS, name)).length > 0)

const everywhere = ['NotAuthenticated', 'InvalidCredentials', 'ApiKeyNotAccepted', 'PermissionMissing', 'RouteNotFound', 'MethodNotAllowed',
  'BodyTooLarge', 'MediaTypeNotSupported', 'InvalidRequest', 'TooManyRequests', 'InternalError', 'StoreUnavailable', 'LogCorrupted'] as const

const linkOf = ({ method, path }: Route): string => {
  const heading = `${method} ${templateOf(path)}`
  return `[${heading}](#${heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')})`
}

export const restPage = (): string =>
  page(
    'REST interface',
    'Try it in the browser at `/docs`, read it at `/redoc`, generate a client from `/openapi.json`. Everything is served at `/`, at `/api/v1` '
      + 'and under BASE_PATH, with and without a trailing slash. Unknown members and parameters are ignored.',
    'Send a login token (`access_token` of `POST /login`) as `Authorization: Bearer …`. Send an API token the same way or as `X-API-Key: …`. '
      + 'Lists answer `data` and `pagination`; use `skip` and `limit` (at most 1000). Times are UTC.',
    '## Routes',
    table(['Route', 'Does', 'For'], described.map((route) => [linkOf(route), route.summary ?? '', ACCESS[route.access]])),
    '## Errors of every route',
    'An error is `{"detail": …}`: a sentence, or with 422 a list of `{"type", "loc", "msg"}`, where `loc` names the member.',
    table(['Status', 'Detail'], everywhere.map((tag) => {
      const { status, body } = exampleResponse(tag)
      return [String(status), textOf(body.detail)]
    })),
    'Every answer has `X-Request-ID`; the log and the history of a session name the same id. 429 and 503 have `Retry-After` in seconds.',
    '## Each route',
    ...described.map(sectionOf),
    '## Objects',
    ...objectNames.map(objectSection),
  )
