import { setImmediate } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type {
  FromWorker,
  LinkHandler,
  LiveLink,
  LiveLinks,
  Peer,
  ToWorker,
  WorkerLink,
} from '../../application/ports/live-links.ts'
import type { Self } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { systemTimers } from '../../infrastructure/process/system-timers.ts'
import { eventually } from '../support/tools/eventually.ts'

/** A dialling process, a worker process and the connection between them. */
export interface LinksWorld {
  readonly serve: (
    self: Self,
    handler: LinkHandler,
  ) => Promise<{ readonly peer: Peer; readonly close: () => Promise<void> }>
  readonly links: LiveLinks
  /** Drops all traffic without closing a connection. */
  readonly cut: () => void
  readonly mend: () => void
  /** Ends the open links on both sides. */
  readonly reset: () => void
  readonly close: () => Promise<void>
}

export const WORKER: Self = { name: 'worker-1', incarnation: '0f6b6a2e-8a43-4f0e-8d59-0d7c2f3b6a11' }
/** The same worker after a restart, with another incarnation. */
export const RESTARTED_WORKER: Self = { name: 'worker-1', incarnation: '11111111-8a43-4f0e-8d59-0d7c2f3b6a11' }

/** The messages that one end of a link received, and the reasons why it closed. */
interface Received<A> {
  readonly messages: Array<A>
  readonly closeReasons: Array<string>
}

const nothingReceived = <A>(): Received<A> => ({ messages: [], closeReasons: [] })

export interface WorkerEnd extends Received<ToWorker> {
  readonly liveId: number
  readonly link: WorkerLink
}

/** A worker that records its messages. `respond` can answer each message. */
export const createWorker = (
  respond: (message: ToWorker, link: WorkerLink) => void = () => undefined,
  end: LinkHandler['end'] = async () => null,
) => {
  const ends: Array<WorkerEnd> = []
  const handler: LinkHandler = {
    open: (liveId, link) => {
      const own: WorkerEnd = { ...nothingReceived(), liveId, link }
      ends.push(own)
      return {
        message: (message) => {
          own.messages.push(message)
          respond(message, link)
        },
        closed: () => void own.closeReasons.push('closed'),
      }
    },
    end,
  }
  const first = (): WorkerEnd => {
    const [own] = ends
    if (own === undefined) throw new Error('no link was opened')
    return own
  }
  return { ends, handler, first }
}

export const HELLO: ToWorker = { kind: 'hello', relay: 1, term: 3, listens: true }
export const HERE: FromWorker = { kind: 'here', term: 3, status: 'active' }
export const frame = (n: number): ToWorker => ({ kind: 'binary', bytes: Buffer.from([n % 256, 0, 255, n >> 8]) })
export const line = (n: number): FromWorker => ({ kind: 'reply', frame: `line ${n}` })
export const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

export const open = (links: LiveLinks, peer: Peer, liveId = 7): Received<FromWorker> & { readonly link: LiveLink } => {
  const received = nothingReceived<FromWorker>()
  const link = links.open(peer, liveId, {
    message: (message) => void received.messages.push(message),
    closed: (reason) => void received.closeReasons.push(reason),
  })
  return { ...received, link }
}

/** Waits some turns of the event loop. A message that was wrongly sent after the end of a link arrives in them. */
export const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
}

/** Registers tests that each open their own world, and provides a wait for slow conditions. */
export const inWorlds = (name: string, openWorld: (timers: Timers) => Promise<LinksWorld>) => {
  /** `slower` stretches all timers, because a busy machine may stand still for seconds. Timeout tests use 1 or 2. */
  const on = (title: string, body: (t: ExecutionContext, world: LinksWorld) => Promise<void>, slower = 20): void => {
    test.serial(`${name}: ${title}`, async (t) => {
      const world = await openWorld({ after: (ms, task) => systemTimers.after(ms * slower, task) })
      try {
        await body(t, world)
      } finally {
        world.mend()
        await world.close()
      }
    })
  }
  const until = async (t: ExecutionContext, condition: () => boolean): Promise<void> => {
    await eventually(
      () => {
        if (!condition()) throw new Error('not yet')
      },
      { timeoutMs: 60_000 },
    )
    t.true(condition())
  }
  return { on, until }
}
