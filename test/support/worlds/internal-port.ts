import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import type { ExecutionContext } from 'ava'
import { WebSocket } from 'ws'
import type { FromWorker, LinkHandler, Peer, ToWorker, WorkerLink } from '../../../application/ports/live-links.ts'
import { createLiveLinks } from '../../../infrastructure/process-links/client.ts'
import { preSharedKey } from '../../../infrastructure/process-links/pre-shared-key.ts'
import { openInternalServer } from '../../../infrastructure/process-links/server.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { eventually } from '../tools/eventually.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'

export const SELF = { name: 'worker-1', incarnation: '1' }
export const KEY = randomBytes(32)
/** Timeouts are ten times longer than usual, because a busy machine may stand still for seconds. */
export const timers = { after: (ms: number, task: () => void) => systemTimers.after(ms * 10, task) }
/** The path of a link to session 7 at the worker with incarnation 1. */
export const PATH = '/1/lives/7/link'

/** Opens the internal port of a worker and records its messages. It closes with the test. */
export const openWorker = async (t: ExecutionContext, masterKey = KEY) => {
  const logger = createRecordingLogger()
  const opened: Array<WorkerLink> = []
  const messages: Array<ToWorker> = []
  const ends: Array<number> = []
  const handler: LinkHandler = {
    open: (liveId, link) => {
      opened.push(link)
      link.send({ kind: 'here', term: 1, status: 'active' })
      return { message: (message) => void messages.push(message), closed: () => void ends.push(liveId) }
    },
    end: async () => null,
  }
  const address = { host: '127.0.0.1', port: 0, url: null }
  const server = await openInternalServer({ ...address, masterKey, self: SELF, handler, logger, timers })
  t.teardown(server.close)
  const peer: Peer = { ...SELF, address: server.address }
  return { server, peer, logger, opened, messages, ends }
}

/** Opens a link to session 7 and records its messages. It closes with the test. */
export const dialWorker = (t: ExecutionContext, peer: Peer, masterKey = KEY) => {
  const logger = createRecordingLogger()
  const links = createLiveLinks({ masterKey, logger, timers })
  const messages: Array<FromWorker> = []
  const ends: Array<string> = []
  const link = links.open(peer, 7, {
    message: (message) => void messages.push(message),
    closed: (reason) => void ends.push(reason),
  })
  t.teardown(links.close)
  return { link, links, messages, ends, logger }
}

export const until = (condition: () => boolean): Promise<void> =>
  eventually(() => {
    if (!condition()) throw new Error(`still false: ${String(condition)}`)
  }, { timeoutMs: 90_000 })

/** Waits for the event `close`. `once` of node:events would reject on an earlier error. */
export const untilClosed = (emitter: EventEmitter): Promise<void> =>
  new Promise((resolve) => void emitter.once('close', () => resolve()))

/** Checks that a peer with the right key can open a link. */
export const assertServing = async (t: ExecutionContext, peer: Peer): Promise<void> => {
  const { messages, link } = dialWorker(t, peer)
  await until(() => messages.length === 1)
  link.close()
}

/** Opens a WebSocket with the right key. The test sends arbitrary frames on it. */
export const openRawLink = async (t: ExecutionContext, port: number, path = PATH): Promise<WebSocket> => {
  const createConnection = () => preSharedKey(KEY).dial('127.0.0.1', port)
  const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, { createConnection })
  socket.on('error', () => undefined)
  t.teardown(() => socket.terminate())
  return socket
}
