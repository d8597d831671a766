import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { RebuildProgress, Rebuilt } from '../../application/ports/projector.ts'
import { decodeOrThrow, object } from '../../domain/shared/codecs.ts'
import { controlPath, rebuildPath } from '../compose/control.ts'
import { ON_BEHALF_OF } from '../http/access.ts'
import { withProcess } from './process-for-command.ts'
import { toolSettings } from './tool-settings.ts'

/** Administration of the instance that the settings name. */
export interface Control {
  /** The `data` of the answer; throws an Error for people on any refusal. `path` with its query. */
  readonly ask: <A>(method: 'GET' | 'POST' | 'PUT', path: string, codec: t.Decoder<unknown, A>, body?: object) => Promise<A>
  /** Throws likewise. */
  readonly remove: (path: string) => Promise<void>
  /** The same as the user with this id, on the routes that let the operator. */
  readonly as: (userId: number) => Control
  /** False of a process that was started beside those of a cluster, and looks at no models. */
  readonly runsModels: boolean
}

const refusal = object({ detail: t.union([t.string, t.readonlyArray(object({ loc: t.UnknownArray, msg: t.string }))]) })

const explain = (status: number, answer: unknown): string => {
  if (!refusal.is(answer)) return `the service answered ${status}`
  const { detail } = answer
  return typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ')
}

interface Target {
  readonly socketPath: string
  readonly headers: Readonly<Record<string, string>>
}

const send = ({ socketPath, headers }: Target, method: string, path: string, body?: object): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const all = body === undefined ? headers : { ...headers, 'content-type': 'application/json' }
    const sent = request({ socketPath, method, path, headers: all }, (response) => {
      text(response).then((content) => resolve({ status: response.statusCode ?? 0, text: content }), reject)
    })
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

const answerOf = async (target: Target, method: string, path: string, body?: object): Promise<unknown> => {
  const { status, text: content } = await send(target, method, path, body)
  const answer: unknown = JSON.parse(content)
  if (status !== 200) throw new Error(explain(status, answer))
  return answer
}

interface Speaking {
  readonly headers?: Target['headers']
  readonly runsModels?: boolean
}

const controlOf = (socketPath: string, { headers = {}, runsModels = true }: Speaking = {}): Control => ({
  ask: async (method, path, codec, body) => {
    const answer = await answerOf({ socketPath, headers }, method, path, body)
    return decodeOrThrow(codec, decodeOrThrow(object({ data: t.unknown }), answer).data)
  },
  remove: async (path) => {
    await answerOf({ socketPath, headers }, 'DELETE', path)
  },
  as: (userId) => controlOf(socketPath, { headers: { [ON_BEHALF_OF]: String(userId) }, runsModels }),
  runsModels,
})

const PAGE = 1000

/** The whole of a list of the service; `path` may have a query of its own. */
export const allOf = async <A>(control: Control, path: string, codec: t.Type<A, unknown>): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  const query = path.includes('?') ? `${path}&` : `${path}?`
  for (;;) {
    const page = await control.ask('GET', `${query}limit=${PAGE}&skip=${items.length}`, t.readonlyArray(codec))
    items.push(...page)
    if (page.length < PAGE) return items
  }
}

/** True when a service listens there; false when none does, which leaves at most a dead socket. */
export const isServed = async (socketPath: string): Promise<boolean> => {
  try {
    await send({ socketPath, headers: {} }, 'GET', '/health/live')
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return false
    throw error
  }
}

/** Talks to the service that holds the data directory; null where none runs. */
export const withRunning = async <A>(use: (control: Control) => Promise<A>): Promise<A | null> => {
  const socketPath = controlPath(toolSettings().dataDir)
  return (await isServed(socketPath)) ? use(controlOf(socketPath)) : null
}

/**
 * Talks to the service that holds the data directory, through the socket in it; where none runs, or none that serves
 * clients, a process is started for as long as `use` takes.
 */
export const withControl = async <A>(use: (control: Control) => Promise<A>): Promise<A> => {
  const settings = toolSettings()
  const socketPath = controlPath(settings.dataDir)
  if (await isServed(socketPath)) return use(controlOf(socketPath))
  return withProcess(settings, (dataDir, runsModels) => use(controlOf(controlPath(dataDir), { runsModels })))
}

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

/** Has the service that holds the data directory make a read model anew. Left: why it did not, or cannot be asked. */
export const rebuildByService = (
  dataDir: string,
  projection: string,
  onProgress: (progress: RebuildProgress) => void,
): Promise<Either<string, Omit<Rebuilt, 'position'>>> =>
  new Promise((resolve, reject) => {
    const sent = request({ socketPath: controlPath(dataDir), method: 'POST', path: rebuildPath(projection) }, (response) => {
      const gone = (): void => resolve(E.left('the service went away; its next start goes on with it'))
      const lines = createInterface({ input: response }).on('error', gone)
      lines.on('close', gone)
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
    sent.once('error', ({ message }) => resolve(E.left(`another process holds the data directory and cannot be reached (${message}): stop it first`)))
    sent.end()
  })
