import * as E from 'fp-ts/lib/Either.js'
import { openEvents } from '../event-serialization.ts'
import { BEGINNING } from '../ports/event-store.ts'
import type { EventStore, Position, StoredEvent, SubscriptionMessage } from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'
import { createErasureRules } from './erasure-rules.ts'
import { createOrderRules } from './order-rules.ts'

const BATCH_SIZE = 500
/** A create, an end or a deletion in progress is no orphan, nor what the reconciler, twice a minute, or a duty has yet to find. */
const ORPHAN_MS = 70_000

export interface LogProblem {
  readonly check: 'decoding' | 'order' | 'reservations' | 'erasure'
  readonly where: string
  readonly problem: string
}

interface CheckLogDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head'>
  readonly keyring: Pick<Keyring, 'open'>
  /** Names of all keys that exist. */
  readonly keyNames: () => AsyncIterable<string> | Iterable<string>
  /** Milliseconds since 1970, null to go by the newest event: nobody runs who could have released anything since. */
  readonly now: number | null
}

const placeOf = ({ stream, revision, position }: StoredEvent): string => `revision ${revision} of ${stream}, position ${position}`

/** The events in clear, or for each why it is not: one that cannot be read does not hide the others. */
const decoded = async (keyring: Pick<Keyring, 'open'>, events: ReadonlyArray<StoredEvent>): Promise<ReadonlyArray<E.Either<string, unknown>>> => {
  try {
    const opened = await openEvents(keyring)(events)()
    if (E.isLeft(opened)) throw new Error(`the keyring cannot be read: ${opened.left.reason}`)
    return opened.right.map(({ data }) => E.right(data))
  } catch (error) {
    const [only] = events
    if (events.length > 1) return (await Promise.all(events.map((event) => decoded(keyring, [event])))).flat()
    return only === undefined ? [] : [E.left(error instanceof Error ? error.message : String(error))]
  }
}

/** Judges events in the order of the log. */
const createJudge = (keyring: Pick<Keyring, 'open'>) => {
  const rules = createOrderRules()
  const erasures = createErasureRules()
  const problems: Array<LogProblem> = []
  let [events, newest] = [0, 0]

  /** It happened all the same: the events after it are judged by it as far as it goes. No rule looks at sealed members. */
  const passOver = ({ stream, revision, type, data }: StoredEvent): void => {
    try {
      rules.broken({ stream, revision, type, data })
    } catch {
      // Members that the rules look at are missing; that it cannot be read is said already.
    }
  }

  const judgeOne = (event: StoredEvent, clear: E.Either<string, unknown>): void => {
    events += 1
    newest = Math.max(newest, Date.parse(event.metadata.recordedAt))
    // Sealed members are of no interest here.
    erasures.observe(event)
    if (E.isLeft(clear)) {
      problems.push({ check: 'decoding', where: placeOf(event), problem: clear.left })
      passOver(event)
      return
    }
    const { stream, revision, type } = event
    const broken = rules.broken({ stream, revision, type, data: clear.right })
    if (broken !== null) problems.push({ check: 'order', where: placeOf(event), problem: broken })
  }

  return {
    judge: async (batch: ReadonlyArray<StoredEvent>): Promise<void> => {
      const plain = await decoded(keyring, batch)
      batch.forEach((event, index) => judgeOne(event, plain[index] ?? E.left('it was not read')))
    },
    verdict: async (now: number | null, keyNames: CheckLogDeps['keyNames']): Promise<{ readonly events: number; readonly problems: ReadonlyArray<LogProblem> }> => {
      const orphans = rules.open().filter(
        ({ reservation, live }) => live !== 'pending' && live !== 'active' && (now ?? newest) - Date.parse(reservation.at) > ORPHAN_MS,
      )
      const held = orphans.map(({ reservation: { liveId, vram }, live }): LogProblem => {
        const problem = `holds ${vram} MB although it ${live === 'none' ? 'never came to be' : 'is over'}`
        return { check: 'reservations', where: `live ${liveId}`, problem }
      })
      const left = await erasures.leftOver(keyNames(), (now ?? newest) - ORPHAN_MS)
      return { events, problems: [...problems, ...held, ...left.map((one): LogProblem => ({ check: 'erasure', ...one }))] }
    },
  }
}

const positionOf = (message: SubscriptionMessage): Position => (message.kind === 'event' ? message.event.position : message.position)

/**
 * Reads the whole log up to its present end: every event must be one that this version knows, its sealed members must
 * open, the rules of order must hold, nobody may hold memory for a live that is over or never came to be, and no key may
 * be left of who was deleted. Rejects when the log cannot be read.
 */
export const checkLog = async ({ store, keyring, keyNames, now }: CheckLogDeps): Promise<{ readonly events: number; readonly problems: ReadonlyArray<LogProblem> }> => {
  const head = await store.head()()
  if (E.isLeft(head)) throw new Error(head.left.reason)
  const { judge, verdict } = createJudge(keyring)
  let waiting: Array<StoredEvent> = []
  // A subscription that waits for more ends by its signal alone, also when it is left because of an error.
  const stop = new AbortController()
  let done = false
  for await (const message of store.subscribe(BEGINNING, [''], stop.signal)) {
    if (done) continue
    if (message.kind === 'event' && message.event.position <= head.right) waiting.push(message.event)
    done = message.kind === 'caught-up' || positionOf(message) >= head.right
    if (!done && waiting.length < BATCH_SIZE) continue
    try {
      await judge(waiting)
    } catch (error) {
      stop.abort()
      throw error
    }
    waiting = []
    if (done) stop.abort()
  }
  return await verdict(now, keyNames)
}
