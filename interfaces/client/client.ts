import { OPERATIONS, type Operations } from './operations.ts'

/** A response with a status other than 2xx. */
export class ApiError extends Error {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers

  constructor(operation: string, status: number, body: unknown, headers = new Headers()) {
    super(`${operation} answered ${status}: ${JSON.stringify(body)}`)
    this.status = status
    this.body = body
    this.headers = headers
  }
}

type OperationId = keyof Operations
type Request<K extends OperationId> = Operations[K]['request']

/** A typed client of the REST interface. */
export interface ApiClient {
  /** Sends a request. Throws an ApiError if the status is not 2xx. */
  readonly call: <K extends OperationId>(
    operation: K,
    ...request: Readonly<Record<string, never>> extends Request<K> ? [request?: Request<K>] : [request: Request<K>]
  ) => Promise<Operations[K]['answer']>
}

interface ClientOptions {
  /** Address of the interface, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Token of a login, or the secret of an API token. */
  readonly token?: string | undefined
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

interface Parts {
  readonly path?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

const addressOf = (template: string, { path = {}, query = {} }: Parts): string => {
  const address = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))
  const search = new URLSearchParams()
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) search.append(name, String(value))
  return search.size === 0 ? address : `${address}?${search.toString()}`
}

const encoded = (type: string | null, body: Parts['body']): string | URLSearchParams | null => {
  if (type === null || body === undefined) return null
  if (type === 'application/json') return JSON.stringify(body)
  return new URLSearchParams(Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]))
}

const read = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return isJson ? (JSON.parse(text) as unknown) : text
}

/** Creates a client of the service at `url`, with the permissions of `token`. */
export const createApiClient = ({ url, token, fetch: send = fetch }: ClientOptions): ApiClient => ({
  call: async (operation, ...[request]) => {
    const { method, path, body: type } = OPERATIONS[operation]
    const parts: Parts = request ?? {}
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const contentType: Record<string, string> = type === null ? {} : { 'content-type': type }
    const response = await send(url + addressOf(path, parts), {
      method,
      headers: { ...authorization, ...contentType, ...parts.headers },
      body: encoded(type, parts.body),
    })
    const body = await read(response)
    if (!response.ok) throw new ApiError(operation, response.status, body, response.headers)
    return body as Operations[typeof operation]['answer']
  },
})
