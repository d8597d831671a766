import * as E from 'fp-ts/lib/Either.js'
import { passingOver } from './passing-over.ts'
import { whyUnreadable } from './event-serialization.ts'
import type { Logger } from '../ports/environment.ts'
import type { EventStore, OlderLog, StoredEvent } from '../ports/event-store.ts'

/**
 * `damaged`: an event is not what was written, or nothing that any version writes. `unknown-event`: a newer version
 * wrote one of a type that this version does not know.
 */
export interface HurtStream {
  readonly stream: string
  readonly problem: 'damaged' | 'unknown-event'
  /** The first event that was met, in words for people. */
  readonly detail: string
}

export interface WatchedLog {
  /** Its subscriptions go on behind damaged rows; all else is the store's own. */
  readonly store: EventStore
  /** Streams with an event that could not be read, by whomever since the start, the first 1000. */
  readonly hurt: () => ReadonlyArray<HurtStream>
  /** Whether one of them, beyond the first 1000 as well, is a stream of this kind: `user` for `user-7`. */
  readonly isHurt: (kind: string) => boolean
  /** Whether an event of the stream is known to be damaged. */
  readonly isDamaged: (stream: string) => boolean
  /**
   * Whether a subscription met an older copy of the log in the place of the one that this process knows. It stays so:
   * what the process holds in memory is of a log that is gone, so that only its next start can be right again.
   */
  readonly isOlder: () => boolean
}

/** Streams that are described; the names of damaged ones are all kept. */
const MAX_DESCRIBED = 1000

const kindOf = (stream: string): string => stream.replace(/-.*$/s, '')

const isOlderLog = (error: unknown): boolean =>
  error instanceof Error && (error.cause as Partial<OlderLog> | undefined)?._tag === 'OlderLog'

/**
 * The log as the service reads it: what cannot be read in one stream stops nobody who follows all, and is told, once
 * for each stream. Whoever needs the stream itself is refused by its own read.
 */
export const watchLog = (store: EventStore, logger: Pick<Logger, 'error'>): WatchedLog => {
  const hurt = new Map<string, HurtStream>()
  const damaged = new Set<string>()
  const kinds = new Set<string>()
  let isOlder = false

  const tell = (found: HurtStream): void => {
    kinds.add(kindOf(found.stream))
    if (found.problem === 'damaged') damaged.add(found.stream)
    if (hurt.has(found.stream) || hurt.size >= MAX_DESCRIBED) return
    hurt.set(found.stream, found)
    logger.error({ ...found }, 'an event cannot be read: what needs its stream is refused, all else goes on')
  }

  const judge = (event: StoredEvent): void => {
    const why = whyUnreadable(event)
    if (why === null) return
    const { stream, revision, type } = event
    const newer = `revision ${revision} is a ${type}: a newer version wrote it`
    if (why._tag === 'LogCorrupted') tell({ stream, problem: 'damaged', detail: why.reason })
    else tell({ stream, problem: 'unknown-event', detail: newer })
  }

  const subscribe = passingOver(store.subscribe, ({ stream, position }) =>
    tell({ stream, problem: 'damaged', detail: `position ${position} is not what was written` }))

  return {
    store: {
      ...store,
      read: (stream, options) => async () => {
        const found = await store.read(stream, options)()
        if (E.isRight(found)) found.right.forEach(judge)
        else if (found.left._tag === 'LogCorrupted') tell({ stream, problem: 'damaged', detail: found.left.reason })
        return found
      },
      subscribe: async function* (from, prefixes, signal) {
        try {
          for await (const message of subscribe(from, prefixes, signal)) {
            if (message.kind === 'event') judge(message.event)
            yield message
          }
        } catch (error) {
          if (isOlderLog(error) && !isOlder) {
            isOlder = true
            logger.error({ err: error, from }, 'an older copy of the log was put in its place: what follows it is held up until the next start')
          }
          throw error
        }
      },
    },
    hurt: () => [...hurt.values()],
    isHurt: (kind) => kinds.has(kind),
    isDamaged: (stream) => damaged.has(stream),
    isOlder: () => isOlder,
  }
}
