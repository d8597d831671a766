import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type {
  EndMessage, LinkEvents, LinkHandler, LiveLinks, RelayedData, Peer, Unreachable, FromWorker, ToWorker,
} from '../../../../application/ports/live-links.ts'
import type { Self } from '../../../../application/ports/members.ts'
import type { Timers } from '../../../../application/ports/timers.ts'

type Message = ToWorker | FromWorker

/** A copy that went through JSON, as every message on the wire does. */
const copyOf = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

/** The message as it arrives, and its size in bytes. */
const transmitted = (message: Message): readonly [copy: Message, bytes: number] => {
  if (message.kind !== 'binary') return [copyOf(message), JSON.stringify(message).length]
  return [{ ...message, bytes: Buffer.from(message.bytes) }, message.bytes.byteLength]
}

/** Deliveries in one direction between two processes, in order. */
interface DeliveryQueue {
  readonly push: (deliver: () => void, size?: number) => void
  /** Runs the due deliveries, unless the connection is held. */
  readonly flush: () => void
  /** The sum of the sizes of the waiting deliveries. */
  readonly waiting: () => number
  readonly drop: () => void
}

/**
 * Delivers each entry in its own turn of the event loop, or after `delay` milliseconds. While `isHeld` returns true,
 * nothing is delivered.
 */
const createDeliveryQueue = (isHeld: () => boolean, delay: () => number, timers: Timers): DeliveryQueue => {
  let queue: Array<{ readonly deliver: () => void; readonly size: number; isDue: boolean }> = []
  let waiting = 0
  const flush = (): void => {
    while (!isHeld() && queue[0]?.isDue === true) {
      const first = queue.shift()
      waiting -= first?.size ?? 0
      first?.deliver()
    }
  }
  return {
    push: (deliver, size = 0) => {
      const entry = { deliver, size, isDue: false }
      queue.push(entry)
      waiting += size
      const setDue = (): void => {
        entry.isDue = true
        flush()
      }
      if (delay() > 0) timers.after(delay(), setDue)
      else setImmediate(setDue)
    },
    flush,
    waiting: () => waiting,
    drop: () => {
      queue = []
      waiting = 0
    },
  }
}

/** The limits of the real adapter, in milliseconds and bytes. */
const DIAL_MS = 2000
const SILENCE_MS = 4000
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024

/** Processes and the connections between them. Processes are identified by name. */
export interface MemoryLinks {
  /** Makes the process reachable. Its address stays the same after a restart (another incarnation). */
  readonly serve: (self: Self, handler: LinkHandler) => {
    readonly peer: Peer
    /** Closes the links after the sent messages, as a stopping process does. Later dials are refused. */
    readonly close: () => void
  }
  /** The links through which this process reaches the others. */
  readonly linksOf: (name: string) => LiveLinks
  /** Ends the links of two processes at once. Both are notified; undelivered messages are lost. Later dials succeed. */
  readonly breakLinks: (a: string, b: string) => void
  /** Holds all messages between two processes. Their links end after 4 s, dials after 2 s (by the timers). */
  readonly cut: (a: string, b: string) => void
  readonly mend: (a: string, b: string) => void
  /** The process receives and sends nothing until `thaw`. The other processes notice after 4 s. */
  readonly freeze: (name: string) => void
  readonly thaw: (name: string) => void
  /** Ends the process. The other processes are notified at once. */
  readonly kill: (name: string) => void
  /** Delays later messages between two processes; 0: they arrive in the next turn of the event loop. */
  readonly delay: (a: string, b: string, ms: number) => void
  /** The open links. */
  readonly standing: () => ReadonlyArray<readonly [from: string, to: string, liveId: number]>
}

const addressOf = (name: string): string => `${name}.memory:1`

const pairOf = (a: string, b: string): string => [a, b].toSorted().join('\n')

/** One end of a link. */
interface End {
  readonly name: string
  receive: (message: never) => void
  /** Null: nobody is notified. */
  closed: ((reason: string) => void) | null
  /** This end has closed the link, so it sends and receives nothing more. */
  isClosing: boolean
}

/** Links in memory, with the network faults that a test can cause. */
export const createMemoryLinks = ({ timers }: { readonly timers: Timers }): MemoryLinks => {
  const served = new Map<string, { readonly self: Self; readonly handler: LinkHandler }>()
  const cuts = new Set<string>()
  const frozen = new Set<string>()
  const delays = new Map<string, number>()
  const links = new Set<ReturnType<typeof connect>>()
  const queues = new Set<DeliveryQueue>()
  /** Notifications that frozen processes receive when they thaw. */
  let pending: ReadonlyArray<{ readonly name: string; readonly notify: () => void }> = []
  const isHeld = (a: string, b: string): boolean => frozen.has(a) || frozen.has(b) || cuts.has(pairOf(a, b))

  const queueOf = (from: string, to: string): DeliveryQueue => {
    const queue = createDeliveryQueue(() => isHeld(from, to), () => delays.get(pairOf(from, to)) ?? 0, timers)
    queues.add(queue)
    return queue
  }
  const drop = (...dropped: ReadonlyArray<DeliveryQueue>): void => {
    for (const queue of dropped) if (queues.delete(queue)) queue.drop()
  }

  /** Returns the process at the address of the peer, or the reason why it is unreachable. */
  const serverOf = ({ name, address, incarnation }: Peer) => {
    const server = served.get(address)
    if (server === undefined) return `${name} cannot be reached at ${address}`
    return server.self.incarnation === incarnation ? server : `${name} has restarted`
  }

  const connect = (from: string, peer: Peer, liveId: number, events: LinkEvents) => {
    const to = peer.name
    const [up, down] = [queueOf(from, to), queueOf(to, from)]
    const own: End = { name: from, receive: events.message, closed: events.closed, isClosing: false }
    const other: End = { name: to, receive: () => undefined, closed: null, isClosing: false }
    let isOver = false
    let stopWatching = (): void => undefined

    /** Notifies both ends: in the next turn of the event loop, or when they thaw. */
    const finish = (reason: string): void => {
      if (isOver) return
      isOver = true
      stopWatching()
      drop(up, down)
      links.delete(link)
      for (const end of [own, other]) {
        const notify = (): void => end.closed?.(reason)
        setImmediate(() => {
          if (frozen.has(end.name)) pending = [...pending, { name: end.name, notify }]
          else notify()
        })
      }
    }
    const sideOf = (end: End, target: End, queue: DeliveryQueue) => ({
      send: (message: Message): void => {
        if (isOver || end.isClosing) return
        if (queue.waiting() > MAX_BUFFERED_BYTES) return finish(`${target.name} reads its messages too slowly`)
        const [copy, size] = transmitted(message)
        queue.push(() => {
          if (!target.isClosing) target.receive(copy as never)
        }, size)
      },
      buffered: queue.waiting,
      close: (): void => {
        if (isOver || end.isClosing) return
        end.isClosing = true
        queue.push(() => finish(`${end.name} closed the link`))
      },
    })
    const [near, far] = [sideOf(own, other, up), sideOf(other, own, down)]
    const link = {
      from, to, liveId, near, finish,
      /** Starts the timer that ends the link if its messages are still held. */
      watch: (): void => {
        stopWatching()
        stopWatching = timers.after(other.closed === null ? DIAL_MS : SILENCE_MS, () => {
          if (isHeld(from, to)) finish(`${to} does not answer`)
        })
      },
      leave: (name: string): void => (name === from ? near : far).close(),
      /** Stops the notifications to this end. */
      mute: (name: string): void => void ((name === from ? own : other).closed = null),
    }
    links.add(link)
    if (isHeld(from, to)) link.watch()
    up.push(() => {
      const server = serverOf(peer)
      if (typeof server === 'string') return finish(server)
      const accepted = server.handler.open(liveId, far)
      other.receive = accepted.message
      other.closed = accepted.closed
    })
    return link
  }

  const requestEnd = (
    from: string,
    peer: Peer,
    message: EndMessage,
    limitMs: number,
  ): Promise<Either<Unreachable, RelayedData | null>> =>
    new Promise((resolve) => {
      const [up, down] = [queueOf(from, peer.name), queueOf(peer.name, from)]
      const settle = (answer: Either<Unreachable, RelayedData | null>): void => {
        cancel()
        drop(up, down)
        resolve(answer)
      }
      const fail = (reason: string): void => settle(E.left({ _tag: 'Unreachable', reason }))
      const cancel = timers.after(limitMs, () => fail(`${peer.name} did not answer in ${limitMs} ms`))
      up.push(() => {
        const server = serverOf(peer)
        if (typeof server === 'string') return fail(server)
        server.handler.end(copyOf(message)).then(
          (answer) => down.push(() => settle(E.right(copyOf(answer)))),
          () => down.push(() => fail(`${peer.name} could not end the session`)),
        )
      })
    })

  const between = (a: string, b: string) => [...links].filter(({ from, to }) => pairOf(from, to) === pairOf(a, b))
  const linksWith = (name: string) => [...links].filter(({ from, to }) => from === name || to === name)
  const flushAll = (): void => {
    for (const { flush } of queues) flush()
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
          for (const { to, leave } of linksWith(self.name)) if (to === self.name) leave(self.name)
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
        end: (to, message, limitMs) => requestEnd(name, to, message, limitMs),
        close: () => {
          isClosed = true
          for (const { from, leave } of linksWith(name)) if (from === name) leave(name)
          return Promise.resolve()
        },
      }
    },
    breakLinks: (a, b) => {
      for (const { finish } of between(a, b)) finish('the connection broke')
    },
    cut: (a, b) => {
      cuts.add(pairOf(a, b))
      for (const { watch } of between(a, b)) watch()
    },
    mend: (a, b) => {
      cuts.delete(pairOf(a, b))
      flushAll()
    },
    freeze: (name) => {
      frozen.add(name)
      for (const { watch } of linksWith(name)) watch()
    },
    thaw: (name) => {
      frozen.delete(name)
      const due = pending.filter((entry) => entry.name === name)
      pending = pending.filter((entry) => entry.name !== name)
      for (const { notify } of due) notify()
      flushAll()
    },
    kill: (name) => {
      served.delete(addressOf(name))
      pending = pending.filter((entry) => entry.name !== name)
      for (const { mute, finish } of linksWith(name)) {
        mute(name)
        finish(`${name} has ended`)
      }
    },
    delay: (a, b, ms) => void delays.set(pairOf(a, b), ms),
    standing: () => [...links].map(({ from, to, liveId }) => [from, to, liveId] as const),
  }
}
