import { createLruCache } from '../lru-cache.ts'
import type { Logger } from '../ports/environment.ts'
import type { LiveBus, LiveSignal } from './signals.ts'

/**
 * Number of ended sessions that are kept for late subscribers. A read model that lags behind still shows an ended
 * session as open, so sockets may subscribe to it. Far fewer sessions end during such a lag.
 */
const REMEMBERED_ENDS = 4096

interface Subscription {
  readonly receive: (signal: LiveSignal) => void
  active: boolean
}

/**
 * Creates the bus of this process. After the end of a session, further signals are dropped. A later subscriber
 * immediately receives the end, because the session may end between the lookup of a token and the subscription.
 */
export const createLiveBus = ({ logger }: { readonly logger: Logger }): LiveBus => {
  const topics = new Map<number, ReadonlyArray<Subscription>>()
  const ends = createLruCache<number, LiveSignal>(REMEMBERED_ENDS)

  const deliver = (liveId: number, subscription: Subscription, signal: LiveSignal): void => {
    try {
      subscription.receive(signal)
    } catch (error) {
      logger.error({ liveId, signal: signal.kind, error: String(error) }, 'a subscriber of the live bus failed')
    }
  }

  return {
    publish: (liveId, signal) => {
      if (ends.get(liveId) !== undefined) return
      if (signal.kind === 'ended') ends.set(liveId, signal)
      // Arrays are replaced, not changed, so the loop sees a fixed list of subscribers.
      for (const subscription of topics.get(liveId) ?? [])
        if (subscription.active) deliver(liveId, subscription, signal)
    },
    subscribe: (liveId, receive) => {
      const subscription: Subscription = { receive, active: true }
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
