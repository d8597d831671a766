import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { decodeOrThrow, object } from '../../domain/shared/codecs.ts'
import { readSettings } from '../../infrastructure/settings.ts'
import { controlPath } from '../compose/control.ts'
import { startServiceProcess } from './service-process.ts'

/** Administration of the instance that the settings name. */
export interface Control {
  /** The `data` of the answer; throws an Error for people on any refusal. `path` with its query. */
  readonly ask: <A>(method: 'GET' | 'POST' | 'PUT', path: string, codec: t.Decoder<unknown, A>, body?: object) => Promise<A>
}

const refusal = object({ detail: t.union([t.string, t.readonlyArray(object({ loc: t.UnknownArray, msg: t.string }))]) })

const explain = (status: number, answer: unknown): string => {
  if (!refusal.is(answer)) return `the service answered ${status}`
  const { detail } = answer
  return typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ')
}

const send = (socketPath: string, method: string, path: string, body?: object): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = request({ socketPath, method, path, headers }, (response) => {
      text(response).then((content) => resolve({ status: response.statusCode ?? 0, text: content }), reject)
    })
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

const controlOf = (socketPath: string): Control => ({
  ask: async (method, path, codec, body) => {
    const { status, text: content } = await send(socketPath, method, path, body)
    const answer: unknown = JSON.parse(content)
    if (status !== 200) throw new Error(explain(status, answer))
    return decodeOrThrow(codec, decodeOrThrow(object({ data: t.unknown }), answer).data)
  },
})

/** True when a service listens there; false when none does, which leaves at most a dead socket. */
const isServed = async (socketPath: string): Promise<boolean> => {
  try {
    await send(socketPath, 'GET', '/health/live')
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return false
    throw error
  }
}

/** Talks to the service that holds the data directory; null where none runs. */
export const withRunning = async <A>(use: (control: Control) => Promise<A>): Promise<A | null> => {
  const settings = readSettings(process.env)
  if (E.isLeft(settings)) throw new Error(settings.left.join('\n'))
  const socketPath = controlPath(settings.right.dataDir)
  return (await isServed(socketPath)) ? use(controlOf(socketPath)) : null
}

/**
 * Talks to the service that holds the data directory, through the socket in it; where none runs, one is started for as
 * long as `use` takes, on a free port of the loopback address.
 */
export const withControl = async <A>(use: (control: Control) => Promise<A>): Promise<A> => {
  const settings = readSettings(process.env)
  if (E.isLeft(settings)) throw new Error(settings.left.join('\n'))
  const socketPath = controlPath(settings.right.dataDir)
  if (await isServed(socketPath)) return use(controlOf(socketPath))
  const own = Object.entries(process.env).flatMap(([name, value]) => (name.startsWith('STENOLOG_') && value !== undefined ? [[name, value]] : []))
  const service = await startServiceProcess({
    ...(Object.fromEntries(own) as Readonly<Record<string, string>>),
    STENOLOG_HOST: '127.0.0.1',
    STENOLOG_PORT: '0',
    STENOLOG_DRAIN_TIMEOUT: '0s',
    STENOLOG_LOG_LEVEL: 'warn',
  })
  try {
    return await use(controlOf(socketPath))
  } finally {
    await service.end('SIGTERM')
  }
}
