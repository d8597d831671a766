import type { Logger } from '../ports/environment.ts'
import type { LiveBus, LiveSignal } from './signals.ts'

/** How many ended lives are remembered; far more than end while a read model lags behind. */
const REMEMBERED_ENDS = 4096

interface Subscription {
  readonly hear: (signal: LiveSignal) => void
  active: boolean
}

/**
 * The bus of this process. A live ends once: a second `ended` is dropped, and whoever subscribes after it hears it at
 * once, so that nobody waits on a live that ended between the look-up of its token and the subscription.
 */
export const createLiveBus = ({ logger }: { readonly logger: Logger }): LiveBus => {
  const topics = new Map<number, ReadonlyArray<Subscription>>()
  const ends = new Map<number, LiveSignal>()

  const deliver = (liveId: number, subscription: Subscription, signal: LiveSignal): void => {
    try {
      subscription.hear(signal)
    } catch (error) {
      logger.error({ liveId, signal: signal.kind, error: String(error) }, 'a subscriber of the live bus failed')
    }
  }

  const rememberEnd = (liveId: number, signal: LiveSignal): void => {
    ends.set(liveId, signal)
    const oldest = ends.size > REMEMBERED_ENDS ? ends.keys().next().value : undefined
    if (oldest !== undefined) ends.delete(oldest)
  }

  return {
    publish: (liveId, signal) => {
      if (ends.has(liveId)) return
      if (signal.kind === 'ended') rememberEnd(liveId, signal)
      // The array is replaced, never changed, so the loop sees the subscribers of the moment it began.
      for (const subscription of topics.get(liveId) ?? []) if (subscription.active) deliver(liveId, subscription, signal)
    },
    subscribe: (liveId, hear) => {
      const subscription: Subscription = { hear, active: true }
      topics.set(liveId, [...(topics.get(liveId) ?? []), subscription])
      const end = ends.get(liveId)
      if (end !== undefined) deliver(liveId, subscription, end)
      return () => {
        subscription.active = false
        const rest = (topics.get(liveId) ?? []).filter((other) => other !== subscription)
        if (rest.length === 0) topics.delete(liveId)
        else topics.set(liveId, rest)
      }
    },
  }
}
