import * as E from 'fp-ts/lib/Either.js'
import { type EventMisfit, type EventTypeUnknown, membersOf } from '../../domain/read-event.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { openEach, type OpenedEvent } from '../log/event-serialization.ts'
import {
  BEGINNING, type EventStore, type Position, type StoredEvent, type SubscriptionMessage,
} from '../ports/event-store.ts'
import type { ShortenedStream } from '../ports/integrity.ts'
import type { Keyring } from '../ports/keyring.ts'
import { RESTORE_ACTOR } from '../restore/record-restore.ts'
import { ADMISSION_STREAM } from '../../domain/admission/events.ts'
import { ADMINISTRATORS_STREAM } from '../../domain/administrators/events.ts'
import { sequenceStream } from '../../domain/shared/sequence.ts'
import { userStream } from '../../domain/user/events.ts'
import { createErasureRules, type ObservedEvent } from './erasure-rules.ts'
import { createIdRules } from './id-rules.ts'
import { subjectOf } from '../../domain/key-subject.ts'
import { createOrderRules } from './order-rules.ts'
import { shorteningProblem } from './shortening-rules.ts'
import { type DamagedRow, skipDamaged } from '../log/skip-damaged.ts'

const BATCH_SIZE = 500
/**
 * Creates, ends and deletions may take this long. Background tasks, which run at least twice a minute, complete an
 * operation that was interrupted.
 */
export const IN_PROGRESS_MS = 70_000

export interface LogProblem {
  readonly check: 'decoding' | 'order' | 'reservations' | 'erasure'
  readonly where: string
  readonly problem: string
}

interface CheckLogDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head'>
  readonly keyring: Pick<Keyring, 'open'>
  readonly keyNames: () => AsyncIterable<string> | Iterable<string>
  readonly erasedNames: () => AsyncIterable<string> | Iterable<string>
  /** The streams that do not show all of their events, where the store keeps the hidden events. */
  readonly shortened: () => Iterable<ShortenedStream>
  /** Milliseconds for which a session with retention keeps its text after its end. 0: without limit. */
  readonly retentionMax: number
  /** Milliseconds since 1970. Null: the time of the service's last event, because no service is running. */
  readonly now: number | null
}

interface CheckedLog {
  readonly events: number
  readonly problems: ReadonlyArray<LogProblem>
}

const placeOf = ({ stream, revision, position }: StoredEvent): string =>
  `revision ${revision} of ${stream}, position ${position}`

/** Decrypts each event. Left: the reason why the event cannot be read. */
const openAll = async (
  keyring: Pick<Keyring, 'open'>,
  events: ReadonlyArray<StoredEvent>,
): Promise<ReadonlyArray<E.Either<EventTypeUnknown | EventMisfit, OpenedEvent>>> => {
  const opened = await openEach(keyring)(events)
  return orThrow(opened, 'the keyring cannot be read')
}

const problemOf = (why: EventTypeUnknown | EventMisfit): string =>
  why._tag === 'EventMisfit' ? why.reason : `has the unknown type ${why.type}: a newer version wrote it`

/** Checks events in the order of the log. */
const createChecker = (
  { keyring, retentionMax }: Pick<CheckLogDeps, 'keyring' | 'retentionMax'>, ids: ReturnType<typeof createIdRules>,
) => {
  const rules = createOrderRules()
  const erasures = createErasureRules(retentionMax)
  const problems: Array<LogProblem> = []
  /** Streams with an unreadable event. Rules do not apply to later events, because they may depend on it. */
  const unsure = new Set<string>()
  /** Keys that the keyring does not have, with the number of events encrypted with each. */
  const missing = new Map<string, number>()
  let events = 0
  let newest = 0

  const isUnsureLive = (liveId: unknown): boolean => unsure.has(`live-${String(liveId)}`)
  /** True when the event may depend on an unreadable event. */
  const isUnsure = (event: StoredEvent): boolean =>
    unsure.has(event.stream) ||
    isUnsureLive(membersOf(event)['liveId']) ||
    (event.stream.startsWith('live-') && unsure.has(ADMISSION_STREAM)) ||
    (event.stream === ADMINISTRATORS_STREAM && unsure.has(userStream(Number(membersOf(event)['userId']))))

  const addDamagedRow = ({ stream, position }: DamagedRow): void => {
    const where = `position ${position} (${stream})`
    problems.push({ check: 'decoding', where, problem: 'is damaged' })
    if (unsure.has(stream)) return
    unsure.add(stream)
    const unreadable = `position ${position}, which cannot be read`
    const unchecked = `is not checked after ${unreadable}`
    const isAdmission = stream === ADMISSION_STREAM
    problems.push({ check: 'order', where: isAdmission ? 'all sessions and admission' : stream, problem: unchecked })
    if (isAdmission) problems.push({ check: 'reservations', where: 'all sessions', problem: unchecked })
    if (/^(live|user)-/.test(stream)) {
      const problem = `may have been deleted by the event at ${unreadable}`
      problems.push({ check: 'erasure', where: stream, problem })
    }
    if (stream.startsWith('live-')) problems.push({ check: 'reservations', where: stream, problem: unchecked })
  }

  /** Updates the rules with an event, but ignores a broken rule. The rules do not use encrypted members. */
  const observe = (event: StoredEvent): void => {
    const { stream, revision, type } = event
    try {
      rules.check({ stream, revision, type, data: membersOf(event) })
    } catch {
      // Members that the rules use are missing. The unreadable event is already reported.
    }
  }

  const checkEvent = (event: StoredEvent, opened: E.Either<EventTypeUnknown | EventMisfit, OpenedEvent>): void => {
    events += 1
    // The clock may have been ahead before. A restore writes while no service erases anything.
    if (event.metadata.actor !== RESTORE_ACTOR) newest = Date.parse(event.metadata.recordedAt)
    const observed = { ...event, data: membersOf(event) }
    erasures.observe(observed)
    ids.observe(observed)
    if (E.isLeft(opened)) {
      problems.push({ check: 'decoding', where: placeOf(event), problem: problemOf(opened.left) })
      unsure.add(event.stream)
      observe(event)
      return
    }
    for (const key of opened.right.missing) missing.set(key, (missing.get(key) ?? 0) + 1)
    if (isUnsure(event)) {
      observe(event)
      return
    }
    const { stream, revision, type } = event
    const broken = rules.check({ stream, revision, type, data: opened.right.data })
    if (broken !== null) problems.push({ check: 'order', where: placeOf(event), problem: broken })
  }

  return {
    addDamagedRow,
    checkBatch: async (batch: ReadonlyArray<StoredEvent>): Promise<void> => {
      const opened = await openAll(keyring, batch)
      for (const [index, event] of batch.entries()) {
        const openedEvent = opened[index]
        if (openedEvent !== undefined) checkEvent(event, openedEvent)
      }
    },
    /** Returns all problems, including those that only the whole log shows. */
    finish: async (now: number | null, keyNames: AsyncIterable<string>): Promise<CheckedLog> => {
      const until = (now ?? newest) - IN_PROGRESS_MS
      const isOrphan = ({ reservation, live }: ReturnType<typeof rules.open>[number]): boolean =>
        !unsure.has(ADMISSION_STREAM) && !isUnsureLive(reservation.liveId)
        && live !== 'pending' && live !== 'active' && Date.parse(reservation.at) < until
      const orphans = rules.open().filter(isOrphan).map(({ reservation: { liveId, vram }, live }): LogProblem => {
        const problem = `holds ${vram} MB although it ${live === 'none' ? 'was never created' : 'has ended'}`
        return { check: 'reservations', where: `session ${liveId}`, problem }
      })
      const missingKeys = [...missing].map(([key, count]): LogProblem => ({
        check: 'decoding',
        where: `key ${key}`,
        problem:
          `is missing but was not erased: ${count} ${count === 1 ? 'event is' : 'events are'} ` +
          'encrypted with it. The keyring is older than the log',
      }))
      const leftOver = await erasures.leftOver(keyNames, until)
      const notErased = leftOver.map((left): LogProblem => ({ check: 'erasure', ...left }))
      return { events, problems: [...problems, ...missingKeys, ...orphans, ...notErased] }
    },
  }
}

const positionOf = (message: SubscriptionMessage): Position =>
  message.kind === 'event' ? message.event.position : message.position

const NEWER_KEY = 'belongs to an id that the log has not given out. The keyring is newer than the log'

/** Observes the later events that give out ids, up to the present end of the log. */
const observeLater = async (
  subscribe: EventStore['subscribe'], from: Position, observe: (event: ObservedEvent) => void,
): Promise<void> => {
  const stop = new AbortController()
  for await (const message of subscribe(from, [ADMISSION_STREAM, sequenceStream('user')], stop.signal)) {
    if (message.kind === 'event') observe({ ...message.event, data: membersOf(message.event) })
    if (message.kind === 'caught-up') stop.abort()
  }
}

/**
 * Checks the whole log up to its present end: all events must be known and readable, and their order must follow the
 * rules. An ended session must have no reservation. A deleted session or user must have no key, and a text that had to
 * be forgotten neither. No key may belong to an id that was not given out yet. No stream may hide an event against the
 * rules. It reports damaged rows and everything that cannot be checked because of them. Rejects when the log cannot be
 * read.
 */
export const checkLog = async (deps: CheckLogDeps): Promise<CheckedLog> => {
  const { store, keyNames, erasedNames, shortened, now } = deps
  const head = orThrow(await store.head())
  const ids = createIdRules()
  const { checkBatch, addDamagedRow, finish } = createChecker(deps, ids)
  /** Damaged rows. In the log they come after the waiting events. */
  const damaged: Array<DamagedRow> = []
  let waiting: Array<StoredEvent> = []
  // A waiting subscription ends only by its signal, so it is aborted at the end and after errors.
  const stop = new AbortController()
  let done = false
  const checkWaiting = async (): Promise<void> => {
    try {
      await checkBatch(waiting)
    } catch (error) {
      stop.abort()
      throw error
    }
    waiting = []
    damaged.splice(0).forEach(addDamagedRow)
  }
  const subscribe = skipDamaged(store.subscribe, (row) => damaged.push(row))
  for await (const message of subscribe(BEGINNING, [''], stop.signal)) {
    if (done) continue
    if (damaged.length > 0) await checkWaiting()
    if (message.kind === 'event' && message.event.position <= head) waiting.push(message.event)
    done = message.kind === 'caught-up' || positionOf(message) >= head
    if (!done && waiting.length < BATCH_SIZE) continue
    await checkWaiting()
    if (done) stop.abort()
  }
  const checked = await finish(now, ids.watch(keyNames()))
  const erasedTexts = new Set<number>()
  for await (const name of ids.watch(erasedNames())) {
    const subject = subjectOf(name)
    if (subject?.key === 'text') erasedTexts.add(subject.id)
  }
  // The service may have given out further ids meanwhile.
  if (ids.ahead().length > 0) await observeLater(subscribe, head, ids.observe)
  const ahead = ids.ahead().map((name): LogProblem => ({ check: 'erasure', where: `key ${name}`, problem: NEWER_KEY }))
  const hidden = [...shortened()].flatMap((stream): ReadonlyArray<LogProblem> => {
    const problem = shorteningProblem(stream, (liveId) => erasedTexts.has(liveId))
    return problem === null ? [] : [{ check: 'order', where: stream.name, problem }]
  })
  return { ...checked, problems: [...checked.problems, ...ahead, ...hidden] }
}
