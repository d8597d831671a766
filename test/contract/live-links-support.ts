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
} from '../../application/ports/peers/live-links.ts'
import type { Self } from '../../application/ports/peers/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { systemTimers } from '../../infrastructure/node/system-timers.ts'
import { eventually } from '../support/tools/eventually.ts'

/** A process that dials, one that is dialled, and the way between them. */
export interface LinksWorld {
  readonly serve: (
    self: Self,
    handler: LinkHandler,
  ) => Promise<{ readonly peer: Peer; readonly close: () => Promise<void> }>
  readonly links: LiveLinks
  /** Nothing passes, and nobody is told. */
  readonly cut: () => void
  readonly mend: () => void
  /** The links that stand end on both sides. */
  readonly reset: () => void
  readonly close: () => Promise<void>
}

export const WORKER: Self = { name: 'worker-1', incarnation: '0f6b6a2e-8a43-4f0e-8d59-0d7c2f3b6a11' }
export const NOBODY: Self = { name: 'worker-1', incarnation: '11111111-8a43-4f0e-8d59-0d7c2f3b6a11' }

/** What one end of a link heard: messages, then why it was closed. */
interface Heard<A> {
  readonly messages: Array<A>
  readonly ends: Array<string>
}

const heardNothing = <A>(): Heard<A> => ({ messages: [], ends: [] })

export interface WorkerEnd extends Heard<ToWorker> {
  readonly liveId: number
  readonly link: WorkerLink
}

/** A worker that keeps what it hears; `hear` may answer it. */
export const createWorker = (
  hear: (message: ToWorker, link: WorkerLink) => void = () => undefined,
  end: LinkHandler['end'] = async () => null,
) => {
  const ends: Array<WorkerEnd> = []
  const handler: LinkHandler = {
    open: (liveId, link) => {
      const own: WorkerEnd = { ...heardNothing(), liveId, link }
      ends.push(own)
      return {
        message: (message) => {
          own.messages.push(message)
          hear(message, link)
        },
        closed: () => void own.ends.push('closed'),
      }
    },
    end,
  }
  const first = (): WorkerEnd => {
    const [own] = ends
    if (own === undefined) throw new Error('no link has come')
    return own
  }
  return { ends, handler, first }
}

export const HELLO: ToWorker = { kind: 'hello', relay: 1, term: 3, listens: true }
export const HERE: FromWorker = { kind: 'here', term: 3, status: 'active' }
export const frame = (n: number): ToWorker => ({ kind: 'binary', bytes: Buffer.from([n % 256, 0, 255, n >> 8]) })
export const line = (n: number): FromWorker => ({ kind: 'reply', frame: `line ${n}` })
export const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

export const open = (links: LiveLinks, peer: Peer, liveId = 7): Heard<FromWorker> & { readonly link: LiveLink } => {
  const heard = heardNothing<FromWorker>()
  const link = links.open(peer, liveId, {
    message: (message) => void heard.messages.push(message),
    closed: (why) => void heard.ends.push(why),
  })
  return { ...heard, link }
}

/** Lets pass what would come behind an end, if anything did. */
export const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
}

/** Tests of worlds that `openWorld` opens, and a wait for what may take long on this machine. */
export const inWorlds = (name: string, openWorld: (timers: Timers) => Promise<LinksWorld>) => {
  /** Only what is about waiting waits about as long as it does in earnest: this machine may stand still for seconds. */
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
  const until = async (t: ExecutionContext, is: () => boolean): Promise<void> => {
    await eventually(() => {
      if (!is()) throw new Error('not yet')
    }, { timeoutMs: 60_000 })
    t.true(is())
  }
  return { on, until }
}
