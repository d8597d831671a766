import type { ExecutionContext } from 'ava'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import type { LiveBus } from '../../../application/pipeline/signals.ts'
import type { LiveLifecycle } from '../../../application/running/live-lifecycle.ts'
import { createLiveSessions, type RunningSessions } from '../../../application/running/live-sessions.ts'
import { placeLocally } from '../../../interfaces/ws/senders/sender-placement.ts'
import { attachSocketServer, type SocketServer, type SocketSettings } from '../../../interfaces/ws/socket-server.ts'
import { openSocket, type TestSocket } from '../service/client.ts'
import { eventually } from '../tools/eventually.ts'
import { createManualTimers, type ManualTimers } from '../doubles/manual-timers.ts'
import { createMemoryLifecycle, type MemoryLifecycle, type MemoryLive } from '../doubles/memory/lifecycle.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'
import { createScriptedPipelines, type PipelineScript, type ScriptedPipelines } from '../doubles/scripted/pipeline.ts'
import { createScriptedPullers } from '../doubles/scripted/puller.ts'
import { forwardEnds } from './session-world.ts'
import { promptTranslations } from './prompt-translations.ts'

export interface SocketFixture {
  readonly origin: string
  readonly lifecycle: MemoryLifecycle
  readonly pipelines: ScriptedPipelines
  readonly sessions: RunningSessions
  readonly bus: LiveBus
  readonly sockets: SocketServer
  readonly timers: ManualTimers
  readonly logger: ReturnType<typeof createRecordingLogger>
  readonly setDraining: (draining: boolean) => void
  readonly sender: (live: MemoryLive) => Promise<TestSocket>
  readonly listener: (live: MemoryLive) => Promise<TestSocket>
  /** Opens a sender whose config frame was answered. */
  readonly configured: (live: MemoryLive) => Promise<TestSocket>
}

/** Functions that replace functions of the lifecycle in memory, and settings of the sessions. */
interface SessionOptions extends Partial<Pick<LiveLifecycle, 'recordSegment' | 'storedFinals' | 'resolveToken'>> {
  /** Finals that a session keeps in memory. */
  readonly keptFinals?: number
  readonly reconnectGrace?: number
  /** Another process accepts sockets. */
  readonly isServedElsewhere?: boolean
}

/**
 * Starts a real socket server. Behind it are live sessions with a write side in memory, scripted pipelines and a clock
 * that stands still.
 */
export const startSockets = async (
  t: ExecutionContext,
  script: PipelineScript = {},
  settings: Partial<SocketSettings> = {},
  { keptFinals, reconnectGrace = 0, isServedElsewhere = false, ...replaced }: SessionOptions = {},
): Promise<SocketFixture> => {
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const lifecycle = createMemoryLifecycle()
  const pipelines = createScriptedPipelines(script)
  const bus = createLiveBus({ logger })
  const environment = { random: () => 0.5, monotonic: timers.monotonic }
  const translations = promptTranslations()
  const { create: createPipeline } = pipelines
  const startPuller = createScriptedPullers().start
  const sessions = createLiveSessions({
    lifecycle: { ...lifecycle, ...replaced },
    createPipeline, startPuller, translations, bus, logger, environment, timers,
    reconnectGrace,
    ...(keptFinals === undefined ? {} : { keptFinals }),
  })
  const stopForwarding = forwardEnds(lifecycle, sessions)
  const server = createServer()
  let draining = false
  const sockets = attachSocketServer({
    server,
    prefixes: ['', '/api/v1'],
    sessions,
    placeSender: placeLocally(sessions),
    bus,
    settings: {
      origins: '*', strict: false, rateLimits: true, idleTimeout: 0, trustedProxies: [], failedHandshakesPerMinute: 0,
      maxSockets: 10_000, senderSlots: 0, ...settings,
    },
    logger,
    environment,
    timers,
    draining: () => draining,
    isServedElsewhere: () => isServedElsewhere,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const origin = `ws://127.0.0.1:${port}`
  t.teardown(async () => {
    const closing = sockets.close(1000)
    timers.advance(1000)
    await closing
    await stopForwarding()
    await sessions.close()
    server.close()
  })
  const sender = ({ id, senderToken }: MemoryLive): Promise<TestSocket> =>
    openSocket(`${origin}/ws/live/${id}?token=${senderToken}`)
  return {
    origin,
    lifecycle,
    pipelines,
    sessions,
    bus,
    sockets,
    timers,
    logger,
    setDraining: (now) => {
      draining = now
    },
    sender,
    listener: (live) => openSocket(`${origin}/ws/live/${live.id}?token=${live.listenerToken}`),
    configured: async (live) => {
      const socket = await sender(live)
      socket.send({ type: 'config' })
      await socket.frame(({ status }) => status === 'started')
      return socket
    },
  }
}

export interface HandshakeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Returns the HTTP answer to an upgrade request: status 101 or the refusal. */
export const shakeHands = async (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<HandshakeAnswer> =>
  new Promise((resolve, reject) => {
    const upgrade = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    }
    const outgoing = request(url.replace(/^ws/, 'http'), { headers: upgrade })
    outgoing.on('error', reject)
    outgoing.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' })
    })
    outgoing.on('response', (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    outgoing.end()
  })

/** Waits for two pongs. After that the server has received the pong to any ping that it sent before. */
export const awaitPongs = async (socket: TestSocket): Promise<void> => {
  const pongs = (): number => socket.frames.filter(({ type }) => type === 'pong').length
  for (let i = 0; i < 2; i += 1) {
    const before = pongs()
    socket.send({ type: 'ping' })
    await eventually(() => assert.ok(pongs() > before))
  }
}

/** The codes of the error frames, in order. */
export const errorCodesOf = (frames: TestSocket['frames']): ReadonlyArray<unknown> =>
  frames.flatMap(({ type, code }) => (type === 'error' ? [code] : []))

/** Samples of this length that are not silent. */
export const audioOf = (seconds: number, value = 1000): Int16Array =>
  new Int16Array(Math.round(seconds * 16_000)).fill(value)

export const base64Of = ({ buffer, byteOffset, byteLength }: Int16Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')
