import * as E from 'fp-ts/lib/Either.js'
import { membersOf } from '../../domain/read-event.ts'
import type { EventMisfit, EventTypeUnknown } from '../../domain/read-event.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { openEach } from '../log/event-serialization.ts'
import type { OpenedEvent } from '../log/event-serialization.ts'
import { BEGINNING } from '../ports/event-store.ts'
import type { EventStore, Position, StoredEvent, SubscriptionMessage } from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'
import { ADMISSION_STREAM } from '../../domain/admission/events.ts'
import { ADMINISTRATORS_STREAM } from '../../domain/administrators/events.ts'
import { userStream } from '../../domain/user/events.ts'
import { createErasureRules } from './erasure-rules.ts'
import { createOrderRules } from './order-rules.ts'
import { skipDamaged } from '../log/skip-damaged.ts'
import type { DamagedRow } from '../log/skip-damaged.ts'

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
const decoded = async (
  keyring: Pick<Keyring, 'open'>,
  events: ReadonlyArray<StoredEvent>,
): Promise<ReadonlyArray<E.Either<EventTypeUnknown | EventMisfit, OpenedEvent>>> => {
  const opened = await openEach(keyring)(events)()
  return orThrow(opened, 'the keyring cannot be read')
}

const saysOf = (why: EventTypeUnknown | EventMisfit): string =>
  why._tag === 'EventMisfit' ? why.reason : `is a ${why.type}, which this version does not know: a newer one wrote it`

/** Judges events in the order of the log. */
const createJudge = (keyring: Pick<Keyring, 'open'>) => {
  const rules = createOrderRules()
  const erasures = createErasureRules()
  const problems: Array<LogProblem> = []
  /** Streams of which a row cannot be read: what it said is not known to the rules. */
  const unsure = new Set<string>()
  /** Keys that the keyring never made, and how many events are sealed with each. */
  const missing = new Map<string, number>()
  let [events, newest] = [0, 0]

  const isUnsureLive = (liveId: unknown): boolean => unsure.has(`live-${String(liveId)}`)
  /** No rule can be held against it. */
  const isUnsure = (event: StoredEvent): boolean =>
    unsure.has(event.stream) ||
    isUnsureLive(membersOf(event)['liveId']) ||
    (event.stream.startsWith('live-') && unsure.has(ADMISSION_STREAM)) ||
    (event.stream === ADMINISTRATORS_STREAM && unsure.has(userStream(Number(membersOf(event)['userId']))))

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
  const passOver = (event: StoredEvent): void => {
    const { stream, revision, type } = event
    try {
      rules.broken({ stream, revision, type, data: membersOf(event) })
    } catch {
      // Members that the rules look at are missing; that it cannot be read is said already.
    }
  }

  const judgeOne = (event: StoredEvent, clear: E.Either<EventTypeUnknown | EventMisfit, OpenedEvent>): void => {
    events += 1
    newest = Math.max(newest, Date.parse(event.metadata.recordedAt))
    // Sealed members are of no interest here.
    erasures.observe({ type: event.type, data: membersOf(event) })
    if (E.isLeft(clear)) {
      problems.push({ check: 'decoding', where: placeOf(event), problem: saysOf(clear.left) })
      // What it says is not known to the rules either.
      unsure.add(event.stream)
      passOver(event)
      return
    }
    for (const key of clear.right.missing) missing.set(key, (missing.get(key) ?? 0) + 1)
    if (isUnsure(event)) {
      passOver(event)
      return
    }
    const { stream, revision, type } = event
    const broken = rules.broken({ stream, revision, type, data: clear.right.data })
    if (broken !== null) problems.push({ check: 'order', where: placeOf(event), problem: broken })
  }

  return {
    passOverRow,
    judge: async (batch: ReadonlyArray<StoredEvent>): Promise<void> => {
      const plain = await decoded(keyring, batch)
      for (const [index, event] of batch.entries()) {
        const clear = plain[index]
        if (clear !== undefined) judgeOne(event, clear)
      }
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
      const lacking = [...missing].map(([key, count]): LogProblem => ({
        check: 'decoding',
        where: `key ${key}`,
        problem:
          `is missing, and was not erased: ${count} ${count === 1 ? 'event is' : 'events are'} ` +
          'sealed with it (the keyring is older than the log)',
      }))
      const leftOver = left.map((one): LogProblem => ({ check: 'erasure', ...one }))
      return { events, problems: [...problems, ...lacking, ...held, ...leftOver] }
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
  const head = orThrow(await store.head()())
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
  for await (const message of skipDamaged(store.subscribe, (row) => damaged.push(row))(BEGINNING, [''], stop.signal)) {
    if (done) continue
    if (damaged.length > 0) await judgeWaiting()
    if (message.kind === 'event' && message.event.position <= head) waiting.push(message.event)
    done = message.kind === 'caught-up' || positionOf(message) >= head
    if (!done && waiting.length < BATCH_SIZE) continue
    await judgeWaiting()
    if (done) stop.abort()
  }
  return await verdict(now, keyNames)
}
