/** The server process of one side of the socket benchmarks. Clients connect over loopback. Orders arrive over IPC. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { WebSocketServer } from 'ws'
import { RECORD_AFTER_MS } from '../application/lives/commands/admit-sender.ts'
import { SOURCE_START } from '../application/lives/source-point.ts'
import { createAudioBuffer } from '../application/pipeline/speech/audio-buffer.ts'
import { createLiveBus } from '../application/pipeline/live-bus.ts'
import type { CreatePipeline } from '../application/pipeline/pipeline.ts'
import type { LiveLifecycle } from '../application/running/live-lifecycle.ts'
import type { LiveSessions } from '../application/running/socket-sessions.ts'
import { createLiveSessions } from '../application/running/live-sessions.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../domain/live/settings.ts'
import { systemTimers as timers } from '../infrastructure/process/system-timers.ts'
import { placeLocally } from '../interfaces/ws/senders/sender-placement.ts'
import { attachSocketServer } from '../interfaces/ws/socket-server.ts'
import { QUIET } from './audio.ts'
import type { ServerOrder, ServerReport, Side } from './socket-processes.ts'

const environment = { monotonic: () => performance.now(), random: Math.random }
const server = createServer()
const bus = createLiveBus({ logger: QUIET })
/** Number of audio samples that the server has received and decoded. */
let receivedSamples = 0

const sendReport = (report: ServerReport): void => void process.send?.(report)

/** Returns a caption of usual length that contains its due time, in milliseconds of the machine's clock. */
const caption = (due: number): string =>
  `@${(performance.timeOrigin + due).toFixed(3)} and then the speaker goes on with a sentence as long as sentences are`

/** Accepts audio like the pipeline, without transcription. */
const createSilentPipeline: CreatePipeline = ({ events }) => {
  const buffer = createAudioBuffer()
  return {
    configure: () => undefined, setVocabulary: () => undefined,
    start: async () => E.right(undefined),
    push: (samples) => {
      buffer.push(samples)
      receivedSamples += samples.length
      buffer.dropBefore(buffer.end())
      events.drained()
    },
    backlogSeconds: () => 0,
    settledSamples: () => 0,
    finish: async () => undefined,
    abort: () => undefined,
  }
}

/** A session that needs no store. */
const lifecycle: LiveLifecycle = {
  resolveToken: async (token) =>
    E.right(O.some({ liveId: 1, role: token === 'sender' ? 'sender' : 'listener', status: 'active' })),
  admitSender: async () => E.right({
      live: {
        term: 1, userId: 1, status: 'active', model: 'none', language: 'en', translations: [],
        audioFormat: 'raw', audioUrl: null, autoStart: false, config: DEFAULT_ENGINE_SETTINGS, vocabulary: {},
      },
      point: SOURCE_START,
      recordAfterMs: RECORD_AFTER_MS,
      record: async () => E.right(1),
    }),
  changeVocabulary: () => async () => E.right(undefined),
  detachSender: () => async () => E.right(undefined),
  startLive: async () => E.right(undefined),
  startSource: () => async () => E.right(undefined),
  endLive: () => async () => E.right(null),
  recordSegment: async () => E.right(undefined),
  storedFinals: async () => E.right({ wanted: () => false, next: async () => E.right(null) }),
}

const openSessions = (): LiveSessions =>
  createLiveSessions({
    lifecycle, createPipeline: createSilentPipeline, bus, logger: QUIET, environment, timers, reconnectGrace: 0,
    startPuller: () => { throw new Error('the benchmark has no URL sources') },
    translations: {
      ofLive: () =>
        ({ prepare: () => undefined, add: () => undefined, settled: async () => undefined, stop: () => undefined }),
    },
  })

/** Opens the socket server of the service with the service's settings. */
const openOurs = () => {
  const sessions = openSessions()
  attachSocketServer({
    server, prefixes: [''], sessions, placeSender: placeLocally(sessions), bus, logger: QUIET, environment, timers,
    draining: () => false, isServedElsewhere: () => false,
    settings: {
      origins: '*',
      strict: false,
      rateLimits: true,
      idleTimeout: 600_000,
      trustedProxies: [],
      failedHandshakesPerMinute: 0,
      senderSlots: 0,
      maxSockets: 10_000,
    },
  })
  let segment = 0
  return (due: number): void => {
    segment += 1
    bus.publish(
      1,
      { kind: 'transcription', segment, final: true, start: 1234.5, end: 1237.25, text: caption(due), language: 'en' },
    )
  }
}

/** Opens the peer: a plain ws server with one loop over its clients and a decoder of audio messages. */
const openLoop = () => {
  const sockets = new WebSocketServer({ server, perMessageDeflate: false })
  const buffer = createAudioBuffer()
  sockets.on('connection', (socket) =>
    socket.on('message', (data) => {
      const message = JSON.parse((data as Buffer).toString()) as { readonly type: string; readonly data: string }
      if (message.type !== 'audio') return
      const bytes = Buffer.from(message.data, 'base64')
      const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2)
      buffer.push(samples)
      receivedSamples += samples.length
      buffer.dropBefore(buffer.end())
    }),
  )
  let segment = 0
  return (due: number): void => {
    segment += 1
    const frame = {
      type: 'transcription', start: 1234.5, end: 1237.25, text: caption(due), language: 'en', segment, final: true,
    }
    const bytes = Buffer.from(JSON.stringify(frame))
    for (const socket of sockets.clients) if (socket.readyState === socket.OPEN) socket.send(bytes, { binary: false })
  }
}

const side = process.argv[2] as Side
const publish = side === 'ours' ? openOurs() : openLoop()

const execute = async (order: ServerOrder): Promise<void> => {
  if (order.kind === 'received') return sendReport({ kind: 'received', samples: receivedSamples })
  const begin = performance.now()
  for (let frame = 0; frame < order.frames; frame += 1) {
    // The due times do not wait for a slow server, because speakers do not wait either. Its frames count as late.
    const due = begin + frame * order.everyMs
    publish(due)
    await delay(Math.max(0, due + order.everyMs - performance.now()))
  }
  sendReport({ kind: 'published' })
}

process.on('message', (order: ServerOrder) => void execute(order))
process.once('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => sendReport({ kind: 'listens', port: (server.address() as AddressInfo).port }))
