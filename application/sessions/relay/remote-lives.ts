import { FIRST_TERM } from '../../../domain/live/events.ts'
import type { EndCause, LiveBus, LiveSignal } from '../../pipeline/signals.ts'
import type { RecentFinals } from '../recent-finals.ts'
import { atMost } from '../../waiting.ts'
import { keepLink } from './kept-link.ts'
import type { Answered, KeptLink, KeptLinkDeps } from './kept-link.ts'
import { createLine } from './line.ts'
import type { Line, LineDeps } from './line.ts'
import { frameFrom, signalFrom } from './passed.ts'
import type { AnsweredLink, LinkLoss, RemoteSender } from './remote-sender.ts'

/** Milliseconds for which a live is listened to after the last who did: most come back after seconds. */
const LINGER = 30_000
/** Milliseconds for which a socket waits for the worker of its live, then for the log. */
const ANSWER = 1000
/** Milliseconds without a link after which a sender's live is said to be unreachable, once and again. */
const UNREACHABLE = 8000

/** The lives of this process's sockets, whichever process runs them: one link for each live that somebody uses here. */
export interface RemoteLives {
  /** For sockets: whoever listens gets the lines of the live, from the first `ready` or subscription on. */
  readonly bus: LiveBus
  /** What sockets of this process were told. */
  readonly recent: RecentFinals
  /** Listens for somebody who is about to, and settles when nothing is missed from then on, or after 2 s. */
  readonly ready: (liveId: number) => Promise<void>
  /** Of a live that somebody listens to, or is about to: neither its worker nor the log says what belongs to the past. */
  readonly isUnknown: (liveId: number) => boolean
  /** Somebody is still about to listen, where somebody was. */
  readonly keep: (liveId: number) => void
  /** A sender of this process has come; call what is answered when it is gone. */
  readonly sender: (liveId: number, sender: RemoteSender) => () => void
  /** These lives, or all, may run elsewhere from now on. */
  readonly placedAnew: (liveIds?: Iterable<number>) => void
  /** The log says so; for every live, used here or not. */
  readonly ended: (liveId: number, cause: EndCause) => void
  readonly isSenderHere: (liveId: number) => boolean
  /** Lives that are linked, or dialled. */
  readonly size: () => number
  readonly figures: () => LinkFigures
  readonly close: () => void
}

/** Links of this process. */
export interface LinkFigures {
  /** Answered by the worker of their live. */
  readonly open: number
  /** That broke, or were answered by nobody, since the start; each is dialled again. */
  readonly failed: number
}

export type RemoteLivesDeps = KeptLinkDeps & Omit<LineDeps, 'publish'> & {
  readonly bus: LiveBus
  /** A live that has a sender here has had no link for some seconds. */
  readonly unreachable?: (liveId: number) => void
}

interface Used {
  readonly senders: Set<RemoteSender>
  readonly line: Line
  link: KeptLink | null
  up: AnsweredLink | null
  listeners: number
  stopLingering: () => void
  /** Null while there is a link. */
  stopMissing: (() => void) | null
}

export const createRemoteLives = (deps: RemoteLivesDeps): RemoteLives => {
  const { bus, recent, timers } = deps
  const lives = new Map<number, Used>()
  let failed = 0

  const linked = (used: Used): void => {
    used.stopMissing?.()
    used.stopMissing = null
  }

  const miss = (liveId: number, used: Used): void => {
    used.stopMissing ??= timers.after(UNREACHABLE, () => {
      used.stopMissing = null
      if (used.senders.size > 0) deps.unreachable?.(liveId)
      miss(liveId, used)
    })
  }

  const leave = (liveId: number, used: Used): void => {
    if (lives.get(liveId) === used) lives.delete(liveId)
    used.stopLingering()
    linked(used)
    used.line.stop()
    used.link?.stop()
  }

  const told = (liveId: number, cause: EndCause): void => {
    recent.ended(liveId, cause.status === 'finished' && cause.reason === 'deleted')
    bus.publish(liveId, { kind: 'ended', cause })
  }

  const over = (liveId: number, used: Used, cause: EndCause): void => {
    told(liveId, cause)
    leave(liveId, used)
    for (const sender of used.senders) sender.over()
  }

  const obey = ({ line, senders, up }: Used, message: Answered): void => {
    if (message.kind === 'recent')
      return line.joined({ ...message, finals: message.finals.map(frameFrom), term: up?.term ?? FIRST_TERM })
    if (message.kind === 'signal') return line.hear(signalFrom(message.signal))
    for (const sender of senders) sender.message(message)
  }

  const open = (liveId: number): Used => {
    const line = createLine({ ...deps, publish: bus.publish }, liveId, (cause) => over(liveId, used, cause))
    const used: Used = {
      senders: new Set(), line, link: null, up: null, listeners: 0, stopLingering: () => undefined, stopMissing: null,
    }
    lives.set(liveId, used)
    const hearer = {
      up: (up: AnsweredLink) => {
        used.up = up
        linked(used)
        for (const sender of used.senders) sender.linkUp(up)
      },
      message: (message: Answered) => obey(used, message),
      down: (loss: LinkLoss) => {
        if (loss !== 'elsewhere') failed += 1
        used.up = null
        if (lives.get(liveId) === used) miss(liveId, used)
        line.down()
        for (const sender of used.senders) sender.linkDown(loss)
      },
    }
    used.link = keepLink(deps, liveId, hearer, true)
    return used
  }

  const of = (liveId: number): Used => lives.get(liveId) ?? open(liveId)

  const linger = (liveId: number, used: Used): void => {
    if (lives.get(liveId) !== used) return
    used.stopLingering()
    used.stopLingering = timers.after(LINGER, () => {
      if (used.listeners === 0 && used.senders.size === 0) leave(liveId, used)
    })
  }

  return {
    bus: {
      publish: bus.publish,
      subscribe: (liveId, hear) => {
        let isOver = false
        const unsubscribe = bus.subscribe(liveId, (signal: LiveSignal) => {
          if (signal.kind === 'ended') isOver = true
          hear(signal)
        })
        // An end that is past is told while we subscribe.
        if (isOver) return unsubscribe
        const used = of(liveId)
        used.listeners += 1
        return () => {
          unsubscribe()
          used.listeners -= 1
          linger(liveId, used)
        }
      },
    },
    recent,
    ready: async (liveId) => {
      const used = of(liveId)
      linger(liveId, used)
      await atMost(timers, ANSWER, used.line.begun)
      if (used.line.hasBegun()) return
      used.line.lookBack()
      await atMost(timers, ANSWER, used.line.begun)
    },
    isUnknown: (liveId) => lives.get(liveId)?.line.hasBegun() === false,
    keep: (liveId) => {
      const used = lives.get(liveId)
      if (used !== undefined) linger(liveId, used)
    },
    sender: (liveId, sender) => {
      const used = of(liveId)
      used.senders.add(sender)
      if (used.up !== null) sender.linkUp(used.up)
      return () => {
        if (used.senders.delete(sender)) linger(liveId, used)
      }
    },
    placedAnew: (liveIds = lives.keys()) => {
      for (const liveId of liveIds) lives.get(liveId)?.link?.look()
    },
    ended: (liveId, cause) => {
      const used = lives.get(liveId)
      if (used === undefined) told(liveId, cause)
      else used.line.endedInLog(cause)
    },
    isSenderHere: (liveId) => (lives.get(liveId)?.senders.size ?? 0) > 0,
    size: () => lives.size,
    figures: () => ({ open: [...lives.values()].filter(({ up }) => up !== null).length, failed }),
    close: () => {
      for (const [liveId, used] of lives) leave(liveId, used)
      recent.close()
    },
  }
}
