import * as E from 'fp-ts/lib/Either.js'
import type {
  EndMessage, FromWorker, LinkEvents, LinkHandler, LiveLinks, Passed, Peer, ToWorker, Unreachable,
} from '../../application/ports/live-links.ts'
import type { Self } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { systemTimers } from '../../infrastructure/node/system-timers.ts'

/** As the adapter has them: how long a dial waits, how long a silent peer is believed in, how much waits for one that does not read. */
const DIAL_MS = 2000
const SILENCE_MS = 4000
const MAX_BUFFERED = 8 * 1024 * 1024

/** A process that others can dial. */
interface Served {
  readonly peer: Peer
  /** Its links end, as when it stops; dials are refused. */
  readonly close: () => void
}

/** Processes and the ways between them, by their names. */
export interface MemoryLinks {
  /** Has the process be dialled; its address stays the same from one incarnation to the next. */
  readonly serve: (self: Self, handler: LinkHandler) => Served
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

const pairOf = (a: string, b: string): string => [a, b].toSorted().join('\n')

const copyOf = <A>(message: A): A => structuredClone(message)

const sizeOf = (message: ToWorker | FromWorker): number =>
  message.kind === 'binary' ? message.bytes.byteLength : JSON.stringify(message).length

/** One end of a link. */
interface End {
  readonly name: string
  hears: (message: never) => void
  /** Null where nobody hears it yet. */
  closed: ((why: string) => void) | null
  /** It has closed the link: it sends and hears nothing more. */
  isClosing: boolean
}

/** What passes one way, in order, unless something holds it. */
interface Way {
  readonly push: (task: () => void, size: number) => void
  readonly flush: () => void
  readonly waiting: () => number
  readonly drop: () => void
}

/** Links in memory: what a test of who uses them needs of a network, and can do to it. */
export const createMemoryLinks = ({ timers = systemTimers }: { readonly timers?: Timers } = {}): MemoryLinks => {
  const served = new Map<string, { readonly self: Self; readonly handler: LinkHandler }>()
  const cuts = new Set<string>()
  const frozen = new Set<string>()
  const killed = new Set<string>()
  const delays = new Map<string, number>()
  interface Link {
    readonly from: string
    readonly to: string
    readonly liveId: number
    readonly finish: (why: string) => void
    readonly held: () => void
    readonly flush: () => void
  }
  const links = new Set<Link>()
  const isHeld = (a: string, b: string): boolean => frozen.has(a) || frozen.has(b) || cuts.has(pairOf(a, b))

  const wayOf = (from: string, to: string): Way => {
    let queue: Array<{ readonly task: () => void; readonly size: number; isDue: boolean }> = []
    let waiting = 0
    const flush = (): void => {
      while (!isHeld(from, to) && queue[0]?.isDue === true) {
        const [first] = queue.splice(0, 1)
        waiting -= first?.size ?? 0
        first?.task()
      }
    }
    return {
      push: (task, size) => {
        const entry = { task, size, isDue: false }
        queue.push(entry)
        waiting += size
        const due = (): void => {
          entry.isDue = true
          flush()
        }
        const ms = delays.get(pairOf(from, to)) ?? 0
        if (ms > 0) timers.after(ms, due)
        else setImmediate(due)
      },
      flush,
      waiting: () => waiting,
      drop: () => {
        queue = []
        waiting = 0
      },
    }
  }

  const open = (from: string, peer: Peer, liveId: number, events: LinkEvents) => {
    const to = peer.name
    const [up, down] = [wayOf(from, to), wayOf(to, from)]
    const own: End = { name: from, hears: events.message, closed: events.closed, isClosing: false }
    const other: End = { name: to, hears: () => undefined, closed: null, isClosing: false }
    let isOver = false
    let isSilent = (): void => undefined

    /** Both hear it: at once, or as soon as they thaw. */
    const finish = (why: string): void => {
      if (isOver) return
      isOver = true
      isSilent()
      up.drop()
      down.drop()
      links.delete(link)
      for (const end of [own, other]) {
        const { name, closed } = end
        if (closed !== null) tell(name, () => closed(why))
      }
    }
    const tell = (name: string, task: () => void): void => void setImmediate(() => {
      if (killed.has(name)) return
      if (frozen.has(name)) late.push({ name, task })
      else task()
    })
    const held = (): void => {
      isSilent()
      isSilent = timers.after(other.closed === null ? DIAL_MS : SILENCE_MS, () => {
        if (isHeld(from, to)) finish(`${to} does not answer`)
      })
    }
    const link: Link = { from, to, liveId, finish, held, flush: () => (up.flush(), down.flush()) }

    const sending = (end: End, target: End, way: Way) => (message: ToWorker | FromWorker): void => {
      if (isOver || end.isClosing) return
      const copy = copyOf(message)
      way.push(() => {
        if (!target.isClosing) target.hears(copy as never)
      }, sizeOf(message))
      if (way.waiting() > MAX_BUFFERED) finish(`${target.name} does not read what is sent to it`)
    }
    const closing = (end: End, way: Way) => (): void => {
      if (isOver || end.isClosing) return
      end.isClosing = true
      way.push(() => finish(`${end.name} closed the link`), 0)
    }

    links.add(link)
    if (isHeld(from, to)) held()
    up.push(() => {
      const there = served.get(peer.address)
      if (there === undefined || killed.has(to)) return finish(`${peer.address} cannot be reached`)
      if (there.self.incarnation !== peer.incarnation) return finish(`${peer.address} is another incarnation of ${to}`)
      const heard = there.handler.open(liveId, {
        send: sending(other, own, down),
        buffered: down.waiting,
        close: closing(other, down),
      })
      other.hears = heard.message
      other.closed = heard.closed
    }, 0)
    return { send: sending(own, other, up), buffered: up.waiting, close: closing(own, up) }
  }

  const end = (from: string, peer: Peer, message: EndMessage, limitMs: number): Promise<E.Either<Unreachable, Passed | null>> =>
    new Promise((resolve) => {
      const [up, down] = [wayOf(from, peer.name), wayOf(peer.name, from)]
      const flush = (): void => (up.flush(), down.flush())
      const settle = (answer: E.Either<Unreachable, Passed | null>): void => {
        cancel()
        ends.delete(flush)
        resolve(answer)
      }
      const unreachable = (reason: string): void => settle(E.left({ _tag: 'Unreachable', reason }))
      const cancel = timers.after(limitMs, () => unreachable(`${peer.name} did not answer in ${limitMs} ms`))
      up.push(() => {
        const there = served.get(peer.address)
        if (there === undefined || killed.has(peer.name)) return unreachable(`${peer.address} cannot be reached`)
        if (there.self.incarnation !== peer.incarnation) return unreachable(`${peer.address} is another incarnation of ${peer.name}`)
        there.handler.end(copyOf(message)).then(
          (answer) => down.push(() => settle(E.right(copyOf(answer))), 0),
          () => unreachable(`${peer.name} could not end it`),
        )
      }, 0)
      ends.add(flush)
    })

  const late: Array<{ readonly name: string; readonly task: () => void }> = []
  const ends = new Set<() => void>()
  const between = (a: string, b: string): ReadonlyArray<Link> =>
    [...links].filter(({ from, to }) => pairOf(from, to) === pairOf(a, b))
  const of = (name: string): ReadonlyArray<Link> => [...links].filter(({ from, to }) => from === name || to === name)
  const flushAll = (): void => {
    for (const { flush } of [...links]) flush()
    for (const flush of ends) flush()
  }

  return {
    serve: (self, handler) => {
      const address = `${self.name}.memory:1`
      const entry = { self, handler }
      killed.delete(self.name)
      served.set(address, entry)
      return {
        peer: { ...self, address },
        close: () => {
          if (served.get(address) !== entry) return
          served.delete(address)
          for (const { to, finish } of of(self.name)) if (to === self.name) finish(`${self.name} stops`)
        },
      }
    },
    linksOf: (name) => {
      let isClosed = false
      return {
        open: (to, liveId, events) => {
          const link = open(name, to, liveId, events)
          if (isClosed) link.close()
          return link
        },
        end: (to, message, limitMs) => end(name, to, message, limitMs),
        close: () => {
          isClosed = true
          for (const { from, finish } of of(name)) if (from === name) finish(`${name} stops`)
          return Promise.resolve()
        },
      }
    },
    breakLinks: (a, b) => {
      for (const { finish } of between(a, b)) finish('the link broke')
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
      for (const entry of late.filter((one) => one.name === name)) {
        late.splice(late.indexOf(entry), 1)
        entry.task()
      }
      flushAll()
    },
    kill: (name) => {
      killed.add(name)
      for (const { finish } of of(name)) finish(`${name} is gone`)
    },
    delay: (a, b, ms) => void delays.set(pairOf(a, b), ms),
    standing: () => [...links].map(({ from, to, liveId }) => [from, to, liveId] as const),
  }
}
