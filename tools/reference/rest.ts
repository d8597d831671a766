import { describeInterface } from '../../interfaces/description/openapi.ts'
import { refusalsByStatus } from '../../interfaces/description/refusals.ts'
import { PARAMETERS } from '../../interfaces/description/texts.ts'
import { exampleResponse } from '../../interfaces/http/errors.ts'
import { ROUTES } from '../../interfaces/http/route-table.ts'
import type { Access, Route } from '../../interfaces/http/route.ts'
import { code, page, table } from './markdown.ts'
import { meaningOf } from './member-meanings.ts'
import { membersOf, typeOf } from './schemas.ts'

const ACCESS: Readonly<Record<Access, string>> = {
  public: 'everyone',
  private: 'a login or an API token',
  login: 'a login',
  admin: 'the login of an administrator',
}

type Json = Readonly<Record<string, unknown>>
const part = (parent: unknown, name: string): Json => ((parent as Json | undefined)?.[name] ?? {}) as Json

const OPENAPI = describeInterface(ROUTES)
const SCHEMAS = part(OPENAPI['components'], 'schemas')

const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')

const documentedRoutes = ROUTES.filter(({ operationId }) => operationId !== undefined)

const operationOf = ({ method, path }: Route): Json =>
  part(part(OPENAPI['paths'], templateOf(path)), method.toLowerCase())

const fallbackOf = (value: unknown): string => (value === undefined ? '' : code(JSON.stringify(value)))

const contentOf = (parent: unknown): Json => {
  const content = part(parent, 'content')
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
      return [
        code(name),
        `${String(parameter['in'])}${parameter['required'] === true ? '' : ', optional'}`,
        typeOf(schema),
        fallbackOf(schema['default']),
        PARAMETERS[name] ?? '',
      ]
    }),
    ...body.map(({ name, type, required, fallback, description }) => [
      code(name),
      `body${required ? '' : ', optional'}`,
      name === 'config' ? '[session settings](session-settings.md)' : type,
      fallbackOf(fallback),
      description,
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
    `${route.summary ?? ''}. Access: ${ACCESS[route.access]}.`,
    ...(inputs.length === 0 ? [] : [table(['Input', 'In', 'Value', 'Default', 'Meaning'], inputs)]),
    table(['Status', 'Response'], answersOf(route)),
  ].join('\n\n')
}

/** Describes an object that requests and responses refer to by name. */
const objectSection = (name: string): string => {
  const members = membersOf(part(SCHEMAS, name))
  const rows = members.map((member) => [
    code(member.name), `${member.type}${member.required ? '' : ' (optional)'}`, meaningOf(name, member.name),
  ])
  return `### ${name}\n\n${table(['Member', 'Value', 'Meaning'], rows)}`
}

const objectNames = Object.keys(SCHEMAS).filter(
  (name) => !name.endsWith('Request') && membersOf(part(SCHEMAS, name)).length > 0,
)

const COMMON_ERRORS = [
  'NotAuthenticated', 'InvalidCredentials', 'ApiKeyNotAccepted', 'PermissionMissing', 'RouteNotFound',
  'MethodNotAllowed', 'BodyTooLarge', 'MediaTypeNotSupported', 'InvalidRequest', 'TooManyRequests', 'InternalError',
  'StoreUnavailable', 'LogCorrupted',
] as const

const linkOf = ({ method, path }: Route): string => {
  const heading = `${method} ${templateOf(path)}`
  return `[${heading}](#${heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')})`
}

export const restPage = (): string =>
  page(
    'REST interface',
    'Try the interface in the browser at `/docs`, read it at `/redoc`, or generate a client from `/openapi.json`. All '
      + 'routes are available at `/`, at `/api/v1` and below BASE_PATH, with and without a trailing slash. Unknown '
      + 'members and parameters are ignored.',
    'Send a login token (`access_token` of `POST /login`) as `Authorization: Bearer …`. Send an API token the same '
      + 'way or as `X-API-Key: …`. Lists return `data` and `pagination`. The parameters `skip` and `limit` (at most '
      + '1000) select a page. Times are in UTC.',
    '`skip` counts rows of the list as it is now, sessions and tokens newest first. If rows are added between two '
      + 'pages, the second page repeats some: compare their `id`. If rows leave the list (deleted, or another `status` '
      + 'than the filter), the second page can omit as many: read the list again.',
    '## Routes',
    table(
      ['Route', 'Purpose', 'Access'],
      documentedRoutes.map((route) => [linkOf(route), route.summary ?? '', ACCESS[route.access]]),
    ),
    'A *live* is a session. Some errors name an *engine lane*, a part of the computing power of the machine. A lane '
      + 'makes one run of a model at a time. A session needs a part of a lane, which the service measures.',
    '## Errors of every route',
    'The body of an error is `{"detail": …}`. `detail` is a text. With status 422 it is a list of problems instead, '
      + 'and `loc` names the wrong member. Example of the body of a 422:',
    `\`\`\`json\n${JSON.stringify(exampleResponse('InvalidRequest').body, null, 2)}\n\`\`\``,
    table(['Status', 'Detail'], COMMON_ERRORS.map((tag) => {
      const { status, body } = exampleResponse(tag)
      return [String(status), textOf(body.detail)]
    })),
    'Every response has the header `X-Request-ID`. The log and the history of a session contain the same id. '
      + 'Responses 429 and 503 have the header `Retry-After`, in seconds.',
    '## Each route',
    ...documentedRoutes.map(sectionOf),
    '## Objects',
    ...objectNames.map(objectSection),
  )
