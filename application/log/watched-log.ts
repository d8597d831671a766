import * as E from 'fp-ts/lib/Either.js'
import { skipDamaged } from './skip-damaged.ts'
import { whyUnreadable } from './event-serialization.ts'
import type { Logger } from '../ports/environment.ts'
import type { EventStore, OlderLog, StoredEvent } from '../ports/event-store.ts'

/**
 * `damaged`: an event was changed or is invalid. `unknown-event`: a newer version wrote an event of an unknown type.
 */
export interface UnreadableStream {
  readonly stream: string
  readonly problem: 'damaged' | 'unknown-event'
  /** The first unreadable event, for people. */
  readonly detail: string
}

export interface WatchedLog {
  /** The event store, with subscriptions that continue after damaged rows. */
  readonly store: EventStore
  /** Returns the first 1000 streams in which this process has met an unreadable event. */
  readonly unreadable: () => ReadonlyArray<UnreadableStream>
  /** True when any stream of this kind is known to be unreadable. The kind of `user-7` is `user`. */
  readonly hasUnreadable: (kind: string) => boolean
  readonly isDamaged: (stream: string) => boolean
  /**
   * True after a subscription found that the log was replaced by an older copy. It stays true until the process
   * restarts, because its memory contains data of the newer log.
   */
  readonly isOlder: () => boolean
}

/** Maximum number of unreadable streams that are kept with details. The names of all damaged streams are kept. */
const MAX_DESCRIBED = 1000

const kindOf = (stream: string): string => stream.replace(/-.*$/s, '')

const isOlderLog = (error: unknown): boolean =>
  error instanceof Error && (error.cause as Partial<OlderLog> | undefined)?._tag === 'OlderLog'

/**
 * Wraps the event store, so an unreadable event does not stop subscriptions. Each unreadable stream is logged once.
 * Reads of the stream itself still fail.
 */
export const watchLog = (store: EventStore, logger: Pick<Logger, 'error'>): WatchedLog => {
  const unreadable = new Map<string, UnreadableStream>()
  const damaged = new Set<string>()
  const kinds = new Set<string>()
  let isOlder = false

  const record = (found: UnreadableStream): void => {
    kinds.add(kindOf(found.stream))
    if (found.problem === 'damaged') damaged.add(found.stream)
    if (unreadable.has(found.stream) || unreadable.size >= MAX_DESCRIBED) return
    unreadable.set(found.stream, found)
    logger.error({ ...found }, 'an event cannot be read; requests that need its stream fail')
  }

  const check = (event: StoredEvent): void => {
    const why = whyUnreadable(event)
    if (why === null) return
    const { stream, revision, type } = event
    const newer = `revision ${revision} has the unknown type ${type}: a newer version wrote it`
    if (why._tag === 'LogCorrupted') record({ stream, problem: 'damaged', detail: why.reason })
    else record({ stream, problem: 'unknown-event', detail: newer })
  }

  const subscribe = skipDamaged(store.subscribe, ({ stream, position }) =>
    record({ stream, problem: 'damaged', detail: `the event at position ${position} is damaged` }))

  return {
    store: {
      ...store,
      read: async (stream, options) => {
        const found = await store.read(stream, options)
        if (E.isRight(found)) found.right.forEach(check)
        else if (found.left._tag === 'LogCorrupted') record({ stream, problem: 'damaged', detail: found.left.reason })
        return found
      },
      subscribe: async function* (from, prefixes, signal) {
        try {
          for await (const message of subscribe(from, prefixes, signal)) {
            if (message.kind === 'event') check(message.event)
            yield message
          }
        } catch (error) {
          if (isOlderLog(error) && !isOlder) {
            isOlder = true
            logger.error({ err: error, from }, 'the log was replaced by an older copy; restart the service')
          }
          throw error
        }
      },
    },
    unreadable: () => [...unreadable.values()],
    hasUnreadable: (kind) => kinds.has(kind),
    isDamaged: (stream) => damaged.has(stream),
    isOlder: () => isOlder,
  }
}
