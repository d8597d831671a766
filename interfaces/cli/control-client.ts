import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { hasServers, type Settings } from '../../infrastructure/settings/settings.ts'
import type { RebuildProgress, Rebuilt } from '../../application/ports/projector.ts'
import { decodeOrThrow, object } from '../../domain/shared/codecs.ts'
import type { CommandError } from '../command-error.ts'
import { controlPath, rebuildPath } from '../compose/control.ts'
import { ON_BEHALF_OF } from '../http/access.ts'
import { dataFiles } from './data-files.ts'
import { withProcess } from './process-for-command.ts'
import { toolSettings } from './tool-settings.ts'

/** Calls the REST routes of the service that the settings name, as its operator. */
export interface Control {
  /**
   * Sends a request and returns the `data` of the response. `path` includes the query. Throws an Error on a refusal.
   */
  readonly request: <A>(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    codec: t.Decoder<unknown, A>,
    body?: object,
  ) => Promise<A>
  /** Sends a DELETE request. Throws an Error on a refusal. */
  readonly remove: (path: string) => Promise<void>
  /** Returns a client that acts as this user, on the routes where the operator may act as a user. */
  readonly asUser: (userId: number) => Control
  /** False when the command started its own process in a cluster: that process runs no models. */
  readonly runsModels: boolean
}

const refusal = object({ detail: t.union([t.string, t.readonlyArray(object({ loc: t.UnknownArray, msg: t.string }))]) })

const refusalText = (status: number, answer: unknown): string => {
  if (!refusal.is(answer)) return `the service answered ${status}`
  const { detail } = answer
  return typeof detail === 'string'
    ? detail
    : detail.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ')
}

class ServiceRefusal extends Error {
  readonly status: number

  constructor(status: number, answer: unknown) {
    super(refusalText(status, answer))
    this.status = status
  }
}

/** Calls `use`. When the service answers 404, throws `notFound` instead of the answer. */
export const orNotFound = async <A>(notFound: CommandError, use: () => Promise<A>): Promise<A> => {
  try {
    return await use()
  } catch (error) {
    throw error instanceof ServiceRefusal && error.status === 404 ? notFound : error
  }
}

interface Target {
  readonly socketPath: string
  readonly headers: Readonly<Record<string, string>>
}

interface Reply {
  readonly status: number
  readonly text: string
}

const send = ({ socketPath, headers }: Target, method: string, path: string, body?: object): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const allHeaders = body === undefined ? headers : { ...headers, 'content-type': 'application/json' }
    const sent = request({ socketPath, method, path, headers: allHeaders }, (response) => {
      text(response).then((content) => resolve({ status: response.statusCode ?? 0, text: content }), reject)
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

const answerOf = async (target: Target, method: string, path: string, body?: object): Promise<unknown> => {
  const { status, text: content } = await send(target, method, path, body)
  const answer: unknown = JSON.parse(content)
  if (status !== 200) throw new ServiceRefusal(status, answer)
  return answer
}

interface ControlOptions {
  readonly headers?: Target['headers']
  readonly runsModels?: boolean
}

const controlOf = (socketPath: string, { headers = {}, runsModels = true }: ControlOptions = {}): Control => ({
  request: async (method, path, codec, body) => {
    const answer = await answerOf({ socketPath, headers }, method, path, body)
    return decodeOrThrow(codec, decodeOrThrow(object({ data: t.unknown }), answer).data)
  },
  remove: async (path) => {
    await answerOf({ socketPath, headers }, 'DELETE', path)
  },
  asUser: (userId) => controlOf(socketPath, { headers: { [ON_BEHALF_OF]: String(userId) }, runsModels }),
  runsModels,
})

const PAGE_SIZE = 1000

/** Fetches all pages of a list. `path` may include a query. */
export const fetchAll = async <A>(
  control: Control,
  path: string,
  codec: t.Type<A, unknown>,
): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  const query = path.includes('?') ? `${path}&` : `${path}?`
  for (;;) {
    const page = await control.request('GET', `${query}limit=${PAGE_SIZE}&skip=${items.length}`, t.readonlyArray(codec))
    items.push(...page)
    if (page.length < PAGE_SIZE) return items
  }
}

/** Returns whether a service listens at the socket. A socket file without a service (ECONNREFUSED) counts as false. */
export const isServiceListening = async (socketPath: string): Promise<boolean> => {
  try {
    await send({ socketPath, headers: {} }, 'GET', '/health/live')
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return false
    throw error
  }
}

/** Calls `use` with the running service of the data directory. Resolves to null when no service runs. */
export const withRunningService = async <A>(use: (control: Control) => Promise<A>): Promise<A | null> => {
  const socketPath = controlPath(toolSettings().dataDir)
  return (await isServiceListening(socketPath)) ? use(controlOf(socketPath)) : null
}

/**
 * Calls `use` with the running service of the data directory. If no service answers on the control socket, starts a
 * temporary service for the duration of `use`. `beforeStart` is called before this start.
 */
export const withControl = async <A>(
  use: (control: Control) => Promise<A>,
  beforeStart: (settings: Settings) => void = () => undefined,
): Promise<A> => {
  const settings = toolSettings()
  const socketPath = controlPath(settings.dataDir)
  if (await isServiceListening(socketPath)) return use(controlOf(socketPath))
  // With both stores on servers, the data directory needs no files.
  if (!hasServers(settings)) beforeStart(settings)
  return withProcess(settings, (dataDir, runsModels) => use(controlOf(controlPath(dataDir), { runsModels })))
}

/** Works as `withControl`, but throws a CommandError instead of making an empty data directory. */
export const withExistingData = <A>(use: (control: Control) => Promise<A>): Promise<A> =>
  withControl(use, (settings) => void dataFiles(settings))

const progress = t.strict({
  projection: t.string,
  events: t.number,
  share: t.union([t.number, t.null]),
  held: t.union([t.string, t.null]),
})
const rebuilt = t.strict({
  projection: t.string,
  events: t.number,
  resumed: t.boolean,
  corrected: t.union([t.number, t.null]),
  seconds: t.number,
})
const rebuildLine = t.union([
  t.strict({ kind: t.literal('progress'), progress }),
  t.strict({ kind: t.literal('done'), result: rebuilt }),
  t.strict({ kind: t.literal('failed'), reason: t.string }),
])

/** Lets the running service of the data directory rebuild a read model. Left: the reason for a failure. */
export const rebuildByService = (
  dataDir: string,
  projection: string,
  onProgress: (progress: RebuildProgress) => void,
): Promise<Either<string, Omit<Rebuilt, 'position'>>> =>
  new Promise((resolve, reject) => {
    const target = { socketPath: controlPath(dataDir), method: 'POST', path: rebuildPath(projection) }
    const sent = request(target, (response) => {
      const onLost = (): void =>
        resolve(E.left('the connection to the service was lost; the next start of the service continues the rebuild'))
      const lines = createInterface({ input: response }).on('error', onLost)
      lines.on('close', onLost)
      lines.on('line', (text) => {
        try {
          const line = decodeOrThrow(rebuildLine, JSON.parse(text))
          if (line.kind === 'progress') onProgress(line.progress)
          else resolve(line.kind === 'done' ? E.right(line.result) : E.left(line.reason))
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
    sent.on('error', ({ message }) => {
      const problem = `another process uses the data directory and does not answer (${message})`
      resolve(E.left(`${problem}; stop that process first`))
    })
    sent.end()
  })
