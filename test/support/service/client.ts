import { once } from 'node:events'
import { WebSocket } from 'ws'
import { createApiClient, type ApiClient } from '../../../interfaces/client/client.ts'
import type { CreateLiveRequest, LiveSession } from '../../../interfaces/client/operations.ts'
import { answerCheckOf, frameCheckOf } from './description-checks.ts'
import { eventually } from '../tools/eventually.ts'

export type Json = Readonly<Record<string, unknown>>

/** A session as the REST interface returns it. */
export type LiveJson = LiveSession & Json

export interface Single<A> {
  readonly data: A
}

export interface Listing<A> {
  readonly data: ReadonlyArray<A>
  readonly pagination: Pagination
}

interface Pagination {
  readonly total_items: number
  readonly total_pages: number
  readonly current_page: number
  readonly per_page: number
}

/** An HTTP answer. A JSON body is parsed; any other body is text. */
export interface Answer<Body = Json> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/** Sends requests as one user. The type of the body is the caller's claim: tests check the members that they use. */
export interface Client {
  readonly get: <Body = Json>(path: string) => Promise<Answer<Body>>
  readonly post: <Body = Json>(path: string, body: unknown) => Promise<Answer<Body>>
  readonly put: <Body = Json>(path: string, body?: unknown) => Promise<Answer<Body>>
  readonly form: <Body = Json>(path: string, fields: Readonly<Record<string, string>>) => Promise<Answer<Body>>
  /** Creates a session with the model demo-en; throws unless the answer is 200. */
  readonly createLive: (members?: Json) => Promise<LiveJson>
  /** Opens a socket with a token of the session. Its frames are compared with asyncapi.json. */
  readonly socket: (live: LiveJson, role: 'sender' | 'listener') => Promise<TestSocket>
  /** Waits until the session has this status. */
  readonly untilStatus: (live: LiveJson, status: string) => Promise<void>
  /** Sends any request. The client's credential is added unless `headers` contain another credential. */
  readonly request: <Body = Json>(method: string, path: string, request?: RawRequest) => Promise<Answer<Body>>
  /** Calls the operations of openapi.json, with their types. */
  readonly api: ApiClient
  readonly url: string
  readonly token: string | undefined
}

export interface RawRequest {
  readonly headers?: Record<string, string>
  readonly body?: string | URLSearchParams
}

interface ReadResponse {
  readonly response: Response
  readonly text: string
}

/** Sends a request. Throws when openapi.json does not declare the answer. */
const checkedFetch = async (url: string, path: string, init: RequestInit): Promise<ReadResponse> => {
  const response = await fetch(url + path, init)
  const text = await response.text()
  const check = await answerCheckOf(url)
  const { status, headers } = response
  const problem = check({ method: init.method ?? 'GET', path, status, headers, text })
  if (problem !== null) throw new Error(problem)
  return { response, text }
}

/** A response whose body can be read again. */
const rebuilt = ({ response, text }: ReadResponse): Response =>
  new Response(text, { status: response.status, headers: response.headers })

export const createClient = (url: string, token?: string): Client => {
  const call = async <Body>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | URLSearchParams,
  ): Promise<Answer<Body>> => {
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const init = { method, headers: { ...authorization, ...headers }, ...(body === undefined ? {} : { body }) }
    const { response, text } = await checkedFetch(url, path, init)
    const json = response.headers.get('content-type')?.startsWith('application/json') === true
    return { status: response.status, headers: response.headers, body: (json ? JSON.parse(text) : text) as Body }
  }
  const sendJson = <Body>(method: string, path: string, body: unknown): Promise<Answer<Body>> =>
    call(method, path, { 'content-type': 'application/json' }, body === undefined ? undefined : JSON.stringify(body))
  const api = createApiClient({
    url,
    token,
    fetch: async (address, init) => rebuilt(await checkedFetch(url, address.slice(url.length), init)),
  })
  return {
    url,
    token,
    api,
    untilStatus: ({ id }, status) =>
      eventually(async () => {
        const { data } = await api.call('getLive', { path: { id } })
        if (data.status !== status) throw new Error(`session ${id} is ${data.status}, not ${status}`)
      }),
    request: (method, path, { headers = {}, body } = {}) => call(method, path, headers, body),
    get: (path) => call('GET', path, {}),
    post: (path, body) => sendJson('POST', path, body),
    put: (path, body) => sendJson('PUT', path, body),
    form: (path, fields) => call('POST', path, {}, new URLSearchParams(fields)),
    createLive: async (members = {}) => {
      const body: CreateLiveRequest = { model: 'demo-en', language: 'en', ...members }
      return { ...(await api.call('createLive', { body })).data }
    },
    socket: async (live, role) => {
      const check = await frameCheckOf(url)
      const tokenOfRole = role === 'sender' ? live.sender_token : live.listener_token
      return openSocket(`${url.replace(/^http/, 'ws')}${live.relative_path}?token=${tokenOfRole}`, check)
    },
  }
}

export const logIn = async (url: string, username: string, password: string): Promise<Client> => {
  const { access_token: token } = await createClient(url).api.call('login', { body: { username, password } })
  return createClient(url, token)
}

interface Closed {
  readonly code: number
  readonly reason: string
}

export interface TestSocket {
  /** The parsed frames so far. */
  readonly frames: ReadonlyArray<Json>
  /** The texts of the frames so far. */
  readonly texts: ReadonlyArray<string>
  /** Waits for the first frame that fits, also among earlier frames. Rejects when the socket closes without it. */
  readonly frame: (fits: (frame: Json) => boolean) => Promise<Json>
  readonly send: (message: unknown) => void
  /** Sends s16le samples as a binary frame. */
  readonly sendAudio: (samples: Int16Array) => void
  /** The close code and reason. Rejects when the socket is still open 100 s after this is read. */
  readonly closed: Promise<Closed>
  /** The close code and reason, without a time limit. */
  readonly ended: Promise<Closed>
  readonly close: () => void
  readonly terminate: () => void
}

/** Returns the answer to a handshake: status 101, or the refusal. A socket that opens is closed at once. */
export const handshake = (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer<unknown>> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers })
    socket.once('open', () => {
      socket.terminate()
      resolve({ status: 101, headers: new Headers(), body: null })
    })
    socket.once('error', reject)
    socket.once('unexpected-response', (request, response) => {
      const chunks: Array<Buffer> = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () => {
        request.destroy()
        const text = Buffer.concat(chunks).toString()
        const pairs = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
        const body: unknown = text === '' ? null : JSON.parse(text)
        resolve({ status: response.statusCode ?? 0, headers: new Headers(pairs), body })
      })
    })
  })

/** Shorter than ava's timeout, whose message does not name the test. */
const PATIENCE_MS = 100_000

/** Rejects when the promise does not settle in time. A caller that does not await the result causes no error. */
const withTimeout = <A>(promise: Promise<A>, describe: () => string): Promise<A> => {
  const timeout = Promise.withResolvers<never>()
  const reject = (): void => timeout.reject(new Error(`${describe()} within ${PATIENCE_MS} ms`))
  const timer = setTimeout(reject, PATIENCE_MS).unref()
  const settled = Promise.race([promise, timeout.promise]).finally(() => clearTimeout(timer))
  settled.catch(() => undefined)
  return settled
}

/** Opens a socket. `check` returns the problem of a frame or null; a problem fails the whole test file. */
export const openSocket = async (
  url: string,
  check: (frame: Json) => string | null = () => null,
): Promise<TestSocket> => {
  const socket = new WebSocket(url)
  const frames: Array<Json> = []
  const texts: Array<string> = []
  const searches = new Set<() => void>()
  socket.on('message', (data) => {
    const text = (data as Buffer).toString()
    const frame = JSON.parse(text) as Json
    const problem = check(frame)
    if (problem !== null) throw new Error(problem)
    texts.push(text)
    frames.push(frame)
    for (const search of searches) search()
  })
  const ended = new Promise<Closed>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  const lastFrames = (): string => JSON.stringify(frames.slice(-5))
  socket.on('error', () => socket.terminate())
  await Promise.race([
    once(socket, 'open'),
    ended.then(() => {
      throw new Error('the handshake was refused')
    }),
  ])
  const frame = (fits: (frame: Json) => boolean): Promise<Json> => {
    const found = Promise.withResolvers<Json>()
    const search = (): void => {
      const match = frames.find(fits)
      if (match !== undefined) found.resolve(match)
    }
    searches.add(search)
    search()
    void ended.then(({ code }) => {
      found.reject(new Error(`the socket closed with ${code} before the frame arrived: ${lastFrames()}`))
    })
    return withTimeout(found.promise, () => `no frame matched: ${lastFrames()}`).finally(() => searches.delete(search))
  }
  return {
    frames,
    texts,
    frame,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    sendAudio: (samples) => socket.send(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)),
    get closed() {
      return withTimeout(ended, () => `the socket was not closed: ${lastFrames()}`)
    },
    ended,
    close: () => socket.close(),
    terminate: () => socket.terminate(),
  }
}
