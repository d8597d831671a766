import { once } from 'node:events'
import { WebSocket } from 'ws'
import { createApiClient } from '../../../interfaces/client/client.ts'
import type { ApiClient } from '../../../interfaces/client/client.ts'
import type { CreateLiveRequest, LiveSession } from '../../../interfaces/client/operations.ts'
import { answerCheckOf, frameCheckOf } from './description-checks.ts'
import { eventually } from '../tools/eventually.ts'

export type Json = Readonly<Record<string, unknown>>

/** A live as REST answers it. */
export type LiveJson = LiveSession & Json

export interface Single<A> {
  readonly data: A
}

export interface Listing<A> {
  readonly data: ReadonlyArray<A>
  readonly pagination: { readonly total_items: number; readonly total_pages: number; readonly current_page: number; readonly per_page: number }
}

/** `body` is parsed JSON where the answer says so, else text. */
export interface Answer<Body = Json> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/** The caller names the shape that it expects; tests compare what they rely on. */
export interface Client {
  readonly get: <Body = Json>(path: string) => Promise<Answer<Body>>
  readonly post: <Body = Json>(path: string, body: unknown) => Promise<Answer<Body>>
  readonly put: <Body = Json>(path: string, body?: unknown) => Promise<Answer<Body>>
  readonly form: <Body = Json>(path: string, fields: Readonly<Record<string, string>>) => Promise<Answer<Body>>
  /** Creates a live with demo-en; throws unless that answered 200. */
  readonly createLive: (members?: Json) => Promise<LiveJson>
  /** Opens a socket of a live with one of its tokens; its frames are compared with the description. */
  readonly socket: (live: LiveJson, role: 'sender' | 'listener') => Promise<TestSocket>
  /** Waits until a live has this status. */
  readonly untilStatus: (live: LiveJson, status: string) => Promise<void>
  /** Any request, as it is given; the credential of the client is sent unless `headers` hold another. */
  readonly request: <Body = Json>(method: string, path: string, request?: RawRequest) => Promise<Answer<Body>>
  /** The same by the operations of the description, typed by it. */
  readonly api: ApiClient
  readonly url: string
  readonly token: string | undefined
}

export interface RawRequest {
  readonly headers?: Record<string, string>
  readonly body?: string | URLSearchParams
}

/** Asks, and fails for an answer that the service's own description does not declare. */
const checkedFetch = async (url: string, path: string, init: RequestInit): Promise<{ readonly response: Response; readonly text: string }> => {
  const response = await fetch(url + path, init)
  const text = await response.text()
  const check = await answerCheckOf(url)
  const problem = check({ method: init.method ?? 'GET', path, status: response.status, headers: response.headers, text })
  if (problem !== null) throw new Error(problem)
  return { response, text }
}

const rebuilt = ({ response, text }: { readonly response: Response; readonly text: string }): Response =>
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
  const api = createApiClient({ url, token, fetch: async (address, init) => rebuilt(await checkedFetch(url, address.slice(url.length), init)) })
  return {
    url,
    token,
    api,
    untilStatus: ({ id }, status) =>
      eventually(async () => {
        const { data } = await api.call('getLive', { path: { id } })
        if (data.status !== status) throw new Error(`live ${id} is ${data.status}, not ${status}`)
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
  /** Frames so far, parsed. */
  readonly frames: ReadonlyArray<Json>
  /** Frames so far, as bytes came. */
  readonly texts: ReadonlyArray<string>
  /** The first frame, already there or still to come, that fits; fails when the socket closes without it. */
  readonly frame: (fits: (frame: Json) => boolean) => Promise<Json>
  readonly send: (message: unknown) => void
  /** s16le samples as a binary frame. */
  readonly sendAudio: (samples: Int16Array) => void
  /** Code and reason of the close; fails when it has not come a while after it was asked for. */
  readonly closed: Promise<Closed>
  /** The same, however long it takes. */
  readonly over: Promise<Closed>
  readonly close: () => void
  readonly terminate: () => void
}

/** How a handshake was answered: 101, or the HTTP answer instead. A socket that opens is cut. */
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
        resolve({ status: response.statusCode ?? 0, headers: new Headers(pairs), body: text === '' ? null : JSON.parse(text) })
      })
    })
  })

/** Milliseconds. Sooner than ava gives up, which does not say in which test. */
const PATIENCE = 100_000

/** What `promise` gives, or a failure when that does not come. Who asks and does not wait is not told. */
const impatient = <A>(promise: Promise<A>, what: () => string): Promise<A> => {
  const late = Promise.withResolvers<never>()
  const limit = setTimeout(() => late.reject(new Error(`${what()} within ${PATIENCE} ms`)), PATIENCE).unref()
  const either = Promise.race([promise, late.promise]).finally(() => clearTimeout(limit))
  either.catch(() => undefined)
  return either
}

/** `check` says what is wrong with a frame, or null; a wrong one fails the whole test file. */
export const openSocket = async (url: string, check: (frame: Json) => string | null = () => null): Promise<TestSocket> => {
  const socket = new WebSocket(url)
  const frames: Array<Json> = []
  const texts: Array<string> = []
  const waiting = new Set<() => void>()
  socket.on('message', (data) => {
    const text = (data as Buffer).toString()
    const frame = JSON.parse(text) as Json
    const problem = check(frame)
    if (problem !== null) throw new Error(problem)
    texts.push(text)
    frames.push(frame)
    for (const look of waiting) look()
  })
  const over = new Promise<Closed>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  const lately = (): string => JSON.stringify(frames.slice(-5))
  socket.on('error', () => socket.terminate())
  await Promise.race([
    once(socket, 'open'),
    over.then(() => {
      throw new Error('the handshake was refused')
    }),
  ])
  const frame = (fits: (frame: Json) => boolean): Promise<Json> => {
    const found = Promise.withResolvers<Json>()
    const look = (): void => {
      const one = frames.find(fits)
      if (one !== undefined) found.resolve(one)
    }
    waiting.add(look)
    look()
    void over.then(({ code }) => found.reject(new Error(`closed with ${code} before the frame came: ${lately()}`)))
    return impatient(found.promise, () => `no such frame: ${lately()}`).finally(() => waiting.delete(look))
  }
  return {
    frames,
    texts,
    frame,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    sendAudio: (samples) => socket.send(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)),
    get closed() {
      return impatient(over, () => `not closed: ${lately()}`)
    },
    over,
    close: () => socket.close(),
    terminate: () => socket.terminate(),
  }
}
