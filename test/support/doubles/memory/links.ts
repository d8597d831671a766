import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type {
  EndMessage, FromWorker, LinkEvents, LinkHandler, LiveLinks, RelayedData, Peer, ToWorker, Unreachable,
} from '../../../../application/ports/peers/live-links.ts'
import type { Self } from '../../../../application/ports/peers/members.ts'
import type { Timers } from '../../../../application/ports/timers.ts'
import { systemTimers } from '../../../../infrastructure/node/system-timers.ts'
import { createDeliveryQueue } from './delivery-queue.ts'
import type { DeliveryQueue } from './delivery-queue.ts'

/** As the adapter has them, in milliseconds and bytes. */
const DIAL_MS = 2000
const SILENCE_MS = 4000
const MAX_BUFFERED = 8 * 1024 * 1024

/** Processes and the ways between them, by their names. */
export interface MemoryLinks {
  /** Has the process be dialled; its address stays the same from one incarnation to the next. */
  readonly serve: (self: Self, handler: LinkHandler) => {
    readonly peer: Peer
    /** Its links are closed behind what was sent, as when it stops; dials are refused. */
    readonly close: () => void
  }
  /** How this process reaches the others. */
  readonly linksOf: (name: string) => LiveLinks
  /** The links of these two end at once, both hear it; what was under way is lost. Dials pass. */
  readonly breakLinks: (a: string, b: string) => void
  /** Nothing passes between these two until it is mended; 4 s of the timers later their links end, dials after 2 s. */
  readonly cut: (a: string, b: string) => void
  readonly mend: (a: string, b: string) => void
  /** The process hears nothing and what it sends does not leave until it thaws; others take 4 s to notice. */
  readonly freeze: (name: string) => void
  readonly thaw: (name: string) => void
  /** The process is gone: others hear it at once, it hears nothing any more. */
  readonly kill: (name: string) => void
  /** From now on what passes between these two takes so long; 0: the next turn of the loop. */
  readonly delay: (a: string, b: string, ms: number) => void
  /** Links that stand at this moment, as [who dialled, whom, live]. */
  readonly standing: () => ReadonlyArray<readonly [from: string, to: string, liveId: number]>
}

const addressOf = (name: string): string => `${name}.memory:1`

const pairOf = (a: string, b: string): string => [a, b].toSorted().join('\n')

/** As it comes out of JSON. */
const copyOf = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

/** A message as it passes, and its bytes. */
const passing = (message: ToWorker | FromWorker): readonly [ToWorker | FromWorker, number] => {
  if (message.kind !== 'binary') return [copyOf(message), JSON.stringify(message).length]
  return [{ ...message, bytes: Buffer.from(message.bytes) }, message.bytes.byteLength]
}

/** One end of a link. */
interface End {
  readonly name: string
  hears: (message: never) => void
  /** Null where nobody hears it. */
  closed: ((why: string) => void) | null
  /** It has closed the link: it sends and hears nothing more. */
  isClosing: boolean
}

/** Links in memory: what a test of who uses them needs of a network, and can do to it. */
export const createMemoryLinks = ({ timers = systemTimers }: { readonly timers?: Timers } = {}): MemoryLinks => {
  const served = new Map<string, { readonly self: Self; readonly handler: LinkHandler }>()
  const cuts = new Set<string>()
  const frozen = new Set<string>()
  const delays = new Map<string, number>()
  const links = new Set<ReturnType<typeof connect>>()
  const ways = new Set<DeliveryQueue>()
  /** What a frozen process hears once it thaws. */
  let late: ReadonlyArray<{ readonly name: string; readonly task: () => void }> = []
  const isHeld = (a: string, b: string): boolean => frozen.has(a) || frozen.has(b) || cuts.has(pairOf(a, b))

  const wayOf = (from: string, to: string): DeliveryQueue => {
    const way = createDeliveryQueue(() => isHeld(from, to), () => delays.get(pairOf(from, to)) ?? 0, timers)
    ways.add(way)
    return way
  }
  const drop = (...gone: ReadonlyArray<DeliveryQueue>): void => {
    for (const way of gone) if (ways.delete(way)) way.drop()
  }

  /** Who is there to be asked, or why nobody is. */
  const askedOf = ({ name, address, incarnation }: Peer) => {
    const there = served.get(address)
    if (there === undefined) return `${name} cannot be reached at ${address}`
    return there.self.incarnation === incarnation ? there : `${name} is another incarnation by now`
  }

  const connect = (from: string, peer: Peer, liveId: number, events: LinkEvents) => {
    const to = peer.name
    const [up, down] = [wayOf(from, to), wayOf(to, from)]
    const own: End = { name: from, hears: events.message, closed: events.closed, isClosing: false }
    const other: End = { name: to, hears: () => undefined, closed: null, isClosing: false }
    let isOver = false
    let stopWatching = (): void => undefined

    /** Both hear it: in the next turn of the loop, or as soon as they thaw. */
    const finish = (why: string): void => {
      if (isOver) return
      isOver = true
      stopWatching()
      drop(up, down)
      links.delete(link)
      for (const end of [own, other]) {
        const task = (): void => end.closed?.(why)
        setImmediate(() => {
          if (frozen.has(end.name)) late = [...late, { name: end.name, task }]
          else task()
        })
      }
    }
    const sideOf = (end: End, target: End, way: DeliveryQueue) => ({
      send: (message: ToWorker | FromWorker): void => {
        if (isOver || end.isClosing) return
        if (way.waiting() > MAX_BUFFERED) return finish(`${target.name} does not read what is sent to it`)
        const [copy, size] = passing(message)
        way.push(() => {
          if (!target.isClosing) target.hears(copy as never)
        }, size)
      },
      buffered: way.waiting,
      close: (): void => {
        if (isOver || end.isClosing) return
        end.isClosing = true
        way.push(() => finish(`${end.name} closed the link`))
      },
    })
    const [near, far] = [sideOf(own, other, up), sideOf(other, own, down)]
    const link = {
      from, to, liveId, near, finish,
      /** Nothing passes at this moment. */
      held: (): void => {
        stopWatching()
        stopWatching = timers.after(other.closed === null ? DIAL_MS : SILENCE_MS, () => {
          if (isHeld(from, to)) finish(`${to} does not answer`)
        })
      },
      leave: (name: string): void => (name === from ? near : far).close(),
      /** This process hears nothing more of it. */
      mute: (name: string): void => void ((name === from ? own : other).closed = null),
    }
    links.add(link)
    if (isHeld(from, to)) link.held()
    up.push(() => {
      const asked = askedOf(peer)
      if (typeof asked === 'string') return finish(asked)
      const heard = asked.handler.open(liveId, far)
      other.hears = heard.message
      other.closed = heard.closed
    })
    return link
  }

  const end = (from: string, peer: Peer, message: EndMessage, limitMs: number): Promise<Either<Unreachable, RelayedData | null>> =>
    new Promise((resolve) => {
      const [up, down] = [wayOf(from, peer.name), wayOf(peer.name, from)]
      const settle = (answer: Either<Unreachable, RelayedData | null>): void => {
        cancel()
        drop(up, down)
        resolve(answer)
      }
      const fail = (reason: string): void => settle(E.left({ _tag: 'Unreachable', reason }))
      const cancel = timers.after(limitMs, () => fail(`${peer.name} did not answer in ${limitMs} ms`))
      up.push(() => {
        const asked = askedOf(peer)
        if (typeof asked === 'string') return fail(asked)
        asked.handler.end(copyOf(message)).then(
          (answer) => down.push(() => settle(E.right(copyOf(answer)))),
          () => down.push(() => fail(`${peer.name} could not end it`)),
        )
      })
    })

  const between = (a: string, b: string) => [...links].filter(({ from, to }) => pairOf(from, to) === pairOf(a, b))
  const of = (name: string) => [...links].filter(({ from, to }) => from === name || to === name)
  const flushAll = (): void => {
    for (const { flush } of ways) flush()
  }

  return {
    serve: (self, handler) => {
      const address = addressOf(self.name)
      const entry = { self, handler }
      frozen.delete(self.name)
      served.set(address, entry)
      return {
        peer: { ...self, address },
        close: () => {
          if (served.get(address) !== entry) return
          served.delete(address)
          for (const { to, leave } of of(self.name)) if (to === self.name) leave(self.name)
        },
      }
    },
    linksOf: (name) => {
      let isClosed = false
      return {
        open: (to, liveId, events) => {
          const link = connect(name, to, liveId, events)
          if (isClosed) link.finish(`${name} stops`)
          return link.near
        },
        end: (to, message, limitMs) => end(name, to, message, limitMs),
        close: () => {
          isClosed = true
          for (const { from, leave } of of(name)) if (from === name) leave(name)
          return Promise.resolve()
        },
      }
    },
    breakLinks: (a, b) => {
      for (const { finish } of between(a, b)) finish('the connection broke off')
    },
    cut: (a, b) => {
      cuts.add(pairOf(a, b))
      for (const { held } of between(a, b)) held()
    },
    mend: (a, b) => {
      cuts.delete(pairOf(a, b))
      flushAll()
    },
    freeze: (name) => {
      frozen.add(name)
      for (const { held } of of(name)) held()
    },
    thaw: (name) => {
      frozen.delete(name)
      const due = late.filter((entry) => entry.name === name)
      late = late.filter((entry) => entry.name !== name)
      for (const { task } of due) task()
      flushAll()
    },
    kill: (name) => {
      served.delete(addressOf(name))
      late = late.filter((entry) => entry.name !== name)
      for (const { mute, finish } of of(name)) {
        mute(name)
        finish(`${name} is gone`)
      }
    },
    delay: (a, b, ms) => void delays.set(pairOf(a, b), ms),
    standing: () => [...links].map(({ from, to, liveId }) => [from, to, liveId] as const),
  }
}
