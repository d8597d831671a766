import { type EndCause, FIRST_TERM } from '../../../domain/live/events.ts'
import type { LiveBus, LiveSignal } from '../../pipeline/signals.ts'
import type { RecentFinals } from '../recent-finals.ts'
import { atMost } from '../../waiting.ts'
import {
  type AnsweredMessage, openReconnectingLink, type ReconnectingLink, type ReconnectingLinkDeps,
} from './reconnecting-link.ts'
import { createListenerLine, type ListenerLine, type ListenerLineDeps } from './listener-line.ts'
import { decodeFrame, decodeSignal } from './link-codecs.ts'
import type { AnsweredLink, LinkLoss, RemoteSender } from './remote-sender.ts'

/** A link stays open this long after its last listener, because most listeners return within seconds. */
const LINGER_MS = 30_000
/** A socket waits at most this long for the worker, and then at most this long for the log. */
const ANSWER_MS = 1000
/** A session with a sender is reported as unreachable after each interval of this length without a link. */
const UNREACHABLE_MS = 8000

/**
 * The sessions that sockets of this process use. Any process may run them. Each used session has one link to its
 * worker.
 */
export interface RemoteLives {
  /** The bus for sockets. Captions of a session arrive after its first `ready` or subscription. */
  readonly bus: LiveBus
  /** The finals that sockets of this process received. */
  readonly recent: RecentFinals
  /** Opens the link for a new listener. Resolves when the listener misses no later final, or after 2 s. */
  readonly ready: (liveId: number) => Promise<void>
  /**
   * Returns whether the past finals of a used session are still unknown: neither its worker nor the log has answered.
   */
  readonly isUnknown: (liveId: number) => boolean
  /** Keeps the link of a used session open for a listener that is about to subscribe. */
  readonly keep: (liveId: number) => void
  /** Adds a sender of this process. Call the returned function when the sender has left. */
  readonly sender: (liveId: number, sender: RemoteSender) => () => void
  /** Call this when these sessions (default: all) may have moved. */
  readonly placementChanged: (liveIds?: Iterable<number>) => void
  /** Call this when the log contains the end of a session, even if no socket of this process uses it. */
  readonly ended: (liveId: number, cause: EndCause) => void
  readonly isSenderHere: (liveId: number) => boolean
  readonly size: () => number
  readonly figures: () => LinkFigures
  readonly close: () => void
}

/** Metrics of the links of this process. */
export interface LinkFigures {
  /** Links that a worker has answered. */
  readonly open: number
  /** Failed connections and broken links since the start. Each is retried. */
  readonly failed: number
}

export type RemoteLivesDeps = ReconnectingLinkDeps & Omit<ListenerLineDeps, 'publish'> & {
  readonly bus: LiveBus
  /** Called when a session with a sender in this process has had no link for UNREACHABLE_MS. */
  readonly unreachable?: (liveId: number) => void
}

interface UsedLive {
  readonly senders: Set<RemoteSender>
  readonly line: ListenerLine
  link: ReconnectingLink | null
  up: AnsweredLink | null
  listeners: number
  stopLingering: () => void
  /** Stops the timer that runs while the link is missing. Null while the link is up. */
  stopMissing: (() => void) | null
}

export const createRemoteLives = (deps: RemoteLivesDeps): RemoteLives => {
  const { bus, recent, timers } = deps
  const lives = new Map<number, UsedLive>()
  let failed = 0

  const stopMissingTimer = (used: UsedLive): void => {
    used.stopMissing?.()
    used.stopMissing = null
  }

  const startMissingTimer = (liveId: number, used: UsedLive): void => {
    used.stopMissing ??= timers.after(UNREACHABLE_MS, () => {
      used.stopMissing = null
      if (used.senders.size > 0) deps.unreachable?.(liveId)
      startMissingTimer(liveId, used)
    })
  }

  const closeLive = (liveId: number, used: UsedLive): void => {
    if (lives.get(liveId) === used) lives.delete(liveId)
    used.stopLingering()
    stopMissingTimer(used)
    used.line.stop()
    used.link?.stop()
  }

  const publishEnd = (liveId: number, cause: EndCause): void => {
    recent.ended(liveId, cause.status === 'finished' && cause.reason === 'deleted')
    bus.publish(liveId, { kind: 'ended', cause })
  }

  const over = (liveId: number, used: UsedLive, cause: EndCause): void => {
    publishEnd(liveId, cause)
    closeLive(liveId, used)
    for (const sender of used.senders) sender.over()
  }

  const handle = ({ line, senders, up }: UsedLive, message: AnsweredMessage): void => {
    if (message.kind === 'recent')
      return line.joined({ ...message, finals: message.finals.map(decodeFrame), term: up?.term ?? FIRST_TERM })
    if (message.kind === 'signal') return line.receive(decodeSignal(message.signal))
    for (const sender of senders) sender.message(message)
  }

  const open = (liveId: number): UsedLive => {
    const line = createListenerLine({ ...deps, publish: bus.publish }, liveId, (cause) => over(liveId, used, cause))
    const used: UsedLive = {
      senders: new Set(), line, link: null, up: null, listeners: 0, stopLingering: () => undefined, stopMissing: null,
    }
    lives.set(liveId, used)
    const subscriber = {
      up: (up: AnsweredLink) => {
        used.up = up
        stopMissingTimer(used)
        for (const sender of used.senders) sender.linkUp(up)
      },
      message: (message: AnsweredMessage) => handle(used, message),
      down: (loss: LinkLoss) => {
        if (loss !== 'elsewhere') failed += 1
        used.up = null
        if (lives.get(liveId) === used) startMissingTimer(liveId, used)
        line.down()
        for (const sender of used.senders) sender.linkDown(loss)
      },
    }
    used.link = openReconnectingLink(deps, liveId, subscriber, true)
    return used
  }

  const usedLive = (liveId: number): UsedLive => lives.get(liveId) ?? open(liveId)

  const linger = (liveId: number, used: UsedLive): void => {
    if (lives.get(liveId) !== used) return
    used.stopLingering()
    used.stopLingering = timers.after(LINGER_MS, () => {
      if (used.listeners === 0 && used.senders.size === 0) closeLive(liveId, used)
    })
  }

  return {
    bus: {
      publish: bus.publish,
      subscribe: (liveId, receive) => {
        let isOver = false
        const unsubscribe = bus.subscribe(liveId, (signal: LiveSignal) => {
          if (signal.kind === 'ended') isOver = true
          receive(signal)
        })
        // A past end is published during `subscribe`.
        if (isOver) return unsubscribe
        const used = usedLive(liveId)
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
      const used = usedLive(liveId)
      linger(liveId, used)
      await atMost(timers, ANSWER_MS, used.line.begun)
      if (used.line.hasBegun()) return
      used.line.readPast()
      await atMost(timers, ANSWER_MS, used.line.begun)
    },
    isUnknown: (liveId) => lives.get(liveId)?.line.hasBegun() === false,
    keep: (liveId) => {
      const used = lives.get(liveId)
      if (used !== undefined) linger(liveId, used)
    },
    sender: (liveId, sender) => {
      const used = usedLive(liveId)
      used.senders.add(sender)
      if (used.up !== null) sender.linkUp(used.up)
      return () => {
        if (used.senders.delete(sender)) linger(liveId, used)
      }
    },
    placementChanged: (liveIds = lives.keys()) => {
      for (const liveId of liveIds) lives.get(liveId)?.link?.checkPlacement()
    },
    ended: (liveId, cause) => {
      const used = lives.get(liveId)
      if (used === undefined) publishEnd(liveId, cause)
      else used.line.endedInLog(cause)
    },
    isSenderHere: (liveId) => (lives.get(liveId)?.senders.size ?? 0) > 0,
    size: () => lives.size,
    figures: () => ({ open: [...lives.values()].filter(({ up }) => up !== null).length, failed }),
    close: () => {
      for (const [liveId, used] of lives) closeLive(liveId, used)
      recent.close()
    },
  }
}
