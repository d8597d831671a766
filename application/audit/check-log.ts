import * as E from 'fp-ts/lib/Either.js'
import { openEvents } from '../event-serialization.ts'
import { BEGINNING } from '../ports/event-store.ts'
import type { EventStore, Position, StoredEvent, SubscriptionMessage } from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'
import { ADMISSION_STREAM } from '../../domain/admission/events.ts'
import { createErasureRules } from './erasure-rules.ts'
import { createOrderRules } from './order-rules.ts'
import { passingOver } from './passing-over.ts'
import type { DamagedRow } from './passing-over.ts'

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
  /** Streams of which a row cannot be read: what it said is not known to the rules. */
  const unsure = new Set<string>()
  let [events, newest] = [0, 0]

  const isUnsureLive = (liveId: unknown): boolean => unsure.has(`live-${String(liveId)}`)
  /** No rule can be held against it. */
  const isUnsure = ({ stream, data }: StoredEvent): boolean =>
    unsure.has(stream) || isUnsureLive(data['liveId']) || (stream.startsWith('live-') && unsure.has(ADMISSION_STREAM))

  const passOverRow = ({ stream, position }: DamagedRow): void => {
    const where = `position ${position} (${stream})`
    problems.push({ check: 'decoding', where, problem: 'is not what was written' })
    if (unsure.has(stream)) return
    unsure.add(stream)
    const behind = `is not judged behind position ${position}, which cannot be read`
    const isAdmission = stream === ADMISSION_STREAM
    problems.push({ check: 'order', where: isAdmission ? 'every live, and admission,' : stream, problem: behind })
    if (isAdmission) problems.push({ check: 'reservations', where: 'every live', problem: behind })
    if (/^(live|user)-/.test(stream))
      problems.push({ check: 'erasure', where: stream, problem: `may have been deleted by what stood at position ${position}, which cannot be read` })
    if (stream.startsWith('live-')) problems.push({ check: 'reservations', where: stream, problem: behind })
  }

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
    if (isUnsure(event)) {
      passOver(event)
      return
    }
    const { stream, revision, type } = event
    const broken = rules.broken({ stream, revision, type, data: clear.right })
    if (broken !== null) problems.push({ check: 'order', where: placeOf(event), problem: broken })
  }

  return {
    passOverRow,
    judge: async (batch: ReadonlyArray<StoredEvent>): Promise<void> => {
      const plain = await decoded(keyring, batch)
      batch.forEach((event, index) => judgeOne(event, plain[index] ?? E.left('it was not read')))
    },
    verdict: async (now: number | null, keyNames: CheckLogDeps['keyNames']): Promise<{ readonly events: number; readonly problems: ReadonlyArray<LogProblem> }> => {
      const judged = rules.open().filter(({ reservation }) => !unsure.has(ADMISSION_STREAM) && !isUnsureLive(reservation.liveId))
      const orphans = judged.filter(
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
 * be left of who was deleted. A row that is not what was written is named and passed over, and what cannot be judged without
 * it is said. Rejects when the log cannot be read.
 */
export const checkLog = async ({ store, keyring, keyNames, now }: CheckLogDeps): Promise<{ readonly events: number; readonly problems: ReadonlyArray<LogProblem> }> => {
  const head = await store.head()()
  if (E.isLeft(head)) throw new Error(head.left.reason)
  const { judge, passOverRow, verdict } = createJudge(keyring)
  /** Rows that cannot be read, each behind the events that wait. */
  const damaged: Array<DamagedRow> = []
  let waiting: Array<StoredEvent> = []
  // A subscription that waits for more ends by its signal alone, also when it is left because of an error.
  const stop = new AbortController()
  let done = false
  const judgeWaiting = async (): Promise<void> => {
    try {
      await judge(waiting)
    } catch (error) {
      stop.abort()
      throw error
    }
    waiting = []
    damaged.splice(0).forEach(passOverRow)
  }
  for await (const message of passingOver(store.subscribe, (row) => damaged.push(row))(BEGINNING, [''], stop.signal)) {
    if (done) continue
    if (damaged.length > 0) await judgeWaiting()
    if (message.kind === 'event' && message.event.position <= head.right) waiting.push(message.event)
    done = message.kind === 'caught-up' || positionOf(message) >= head.right
    if (!done && waiting.length < BATCH_SIZE) continue
    await judgeWaiting()
    if (done) stop.abort()
  }
  return await verdict(now, keyNames)
}
