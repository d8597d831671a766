import { ADMISSION_STREAM } from '../../domain/admission/events.ts'
import type { AdmissionEvent } from '../../domain/admission/events.ts'
import type { Reservation } from '../../domain/admission/state.ts'
import { ADMINISTRATORS_STREAM } from '../../domain/administrators/events.ts'
import type { AdministratorsEvent } from '../../domain/administrators/events.ts'
import { liveDecider } from '../../domain/live/decider.ts'
import type { Live, LiveState } from '../../domain/live/state.ts'
import { liveStream } from '../../domain/live/events.ts'
import type { LiveEvent, LiveTakenOver } from '../../domain/live/events.ts'
import type { EventOf } from '../../domain/shared/event.ts'
import { termOf } from '../../domain/transcript/events.ts'
import type { TranscriptEvent } from '../../domain/transcript/events.ts'
import { userStream } from '../../domain/user/events.ts'
import type { UserEvent } from '../../domain/user/events.ts'
import { createAdmissionRules } from './admission-rules.ts'
import { createSegmentRules } from './segment-rules.ts'

/** An event in clear, where it stands in the log. */
export interface AuditedEvent {
  readonly stream: string
  readonly revision: number
  readonly type: string
  readonly data: unknown
}

/** Events in the order of the log; each answers which rule it breaks, null for none. */
export interface OrderRules {
  readonly broken: (event: AuditedEvent) => string | null
  /** What holds megabytes after the events so far, and what became of the live. */
  readonly open: () => ReadonlyArray<{ readonly reservation: Reservation; readonly live: JudgedLive['status'] }>
}

/**
 * Streams of which nothing is ever truncated: each revision follows the one before. Of all others a store may discard
 * what was truncated, when and as far as it likes, so that any may be gone but the last: what was judged by events that
 * may be missing is not judged.
 */
const WHOLE = /^(admission$|administrators$|live-|user-|profiles-)/

/** `over`: finished or failed; of such a live nothing else matters, and a log may hold millions. */
type JudgedLive = LiveState | { readonly status: 'over' }
const OVER: JudgedLive = { status: 'over' }

const afterEnd = ({ type }: LiveEvent): JudgedLive => (type === 'LiveDeleted' ? { status: 'deleted' } : OVER)

const isOpen = (status: JudgedLive['status']): boolean => status === 'pending' || status === 'active'

const brokenByBirth = (event: LiveEvent, reserved: Reservation | undefined): string | null => {
  if (event.type === 'LiveAborted') return null
  if (event.type !== 'LiveCreated') return `${event.type} before the live was created`
  if (reserved === undefined) return 'the live was created without a reservation'
  const { userId, vram, worker } = event.data
  // It may have been moved since whoever creates it looked.
  const isPlaced = reserved.worker === worker || reserved.worker === null || reserved.term > 1
  return reserved.userId === userId && reserved.vram === vram && isPlaced
    ? null
    : 'the live is not the one that was admitted'
}

const brokenByTakeover = (
  live: Live,
  { worker, term }: EventOf<typeof LiveTakenOver>['data'],
  reserved: Reservation | undefined,
): string | null => {
  if (term <= live.term) return `term ${term} came after term ${live.term}`
  // It may have been moved on meanwhile.
  const isPlaced =
    reserved !== undefined &&
    (reserved.term > term || (reserved.term === term && [worker, null].includes(reserved.worker)))
  return isPlaced ? null : `worker ${worker} took the live over in term ${term}, which it was not given`
}

/** What the worker of a term writes stands in that term. */
const brokenByTerm = (live: Live, term: number, what: string): string | null =>
  term === live.term ? null : `${what} of term ${term} came in term ${live.term}`

const brokenByOpenLive = (live: Live, event: LiveEvent, reserved: Reservation | undefined): string | null => {
  switch (event.type) {
    case 'LiveCreated':
    case 'LiveAborted':
      return `${event.type} although the live exists`
    case 'LiveDeleted':
      return 'the live was deleted before its end'
    case 'LiveStarted':
      return live.status === 'active' ? 'the live was started twice' : null
    case 'SenderAttached': {
      const { epoch } = event.data
      if (epoch !== live.epoch + 1) return `sender ${epoch} came after sender ${live.epoch}`
      return brokenByTerm(live, termOf(event), `sender ${epoch}`)
    }
    case 'SenderDetached':
      return event.data.epoch === live.sender ? null : `sender ${event.data.epoch} left without holding the live`
    case 'LiveTakenOver':
      return brokenByTakeover(live, event.data, reserved)
    case 'VocabularyChanged':
      return brokenByTerm(live, event.data.term, event.type)
    case 'SourceStarted':
    case 'LiveFinished':
    case 'LiveFailed':
      return null
  }
}

const brokenByLive = (state: JudgedLive, event: LiveEvent, reserved: Reservation | undefined): string | null => {
  switch (state.status) {
    case 'none':
      return brokenByBirth(event, reserved)
    case 'pending':
    case 'active':
      return brokenByOpenLive(state, event, reserved)
    case 'over':
    case 'finished':
    case 'error':
      return event.type === 'LiveDeleted' ? null : `${event.type} after the end of the live`
    case 'aborted':
    case 'deleted':
      return `${event.type} after the end of the live`
  }
}

const brokenByUser = (generation: number | null | undefined, event: UserEvent): string | null => {
  if (generation === null) return `${event.type} after the user was deleted`
  if ((generation === undefined) !== (event.type === 'UserRegistered')) return generation === undefined ? `${event.type} before the user was registered` : 'the user was registered twice'
  return event.type === 'PasswordChanged' && generation !== undefined && event.data.generation <= generation ? 'an older password after a newer one' : null
}

const generationAfter = (before: number | undefined, event: UserEvent): number | null => {
  if (event.type === 'UserDeleted') return null
  return event.type === 'PasswordChanged' ? event.data.generation : (before ?? 0)
}

/** What the write side never does: rules about the order of events, judged anew from nothing but the log. */
export const createOrderRules = (): OrderRules => {
  const revisions = new Map<string, number>()
  const lives = new Map<number, JudgedLive>()
  const brokenSegment = createSegmentRules()
  /** Null for a user who was deleted. */
  const generations = new Map<string, number | null>()
  /** Whether who ever administered is counted now. */
  const counted = new Map<number, boolean>()

  const statusOf = (liveId: number): JudgedLive['status'] => lives.get(liveId)?.status ?? 'none'
  const admissions = createAdmissionRules((liveId) => statusOf(liveId) !== 'none' && !isOpen(statusOf(liveId)))

  const brokenRevision = ({ stream, revision }: AuditedEvent, before: number): string | null => {
    if (!WHOLE.test(stream)) return revision > before ? null : `revision ${revision} after revision ${before}`
    return revision === before + 1 ? null : `revision ${revision} where ${before + 1} should be`
  }

  const brokenLive = (stream: string, event: LiveEvent): string | null => {
    const { liveId } = event.data
    if (stream !== liveStream(liveId)) return `an event of live ${liveId} in another stream`
    const state = lives.get(liveId) ?? liveDecider.initialState
    const broken = brokenByLive(state, event, admissions.reservationOf(liveId))
    const next = state.status === 'over' ? afterEnd(event) : liveDecider.evolve(state, event)
    // Of what is over only that it is over matters.
    lives.set(liveId, next.status === 'finished' || next.status === 'error' ? OVER : next)
    return broken
  }

  const brokenUser = (stream: string, event: UserEvent): string | null => {
    const generation = generations.get(stream)
    if (generation !== null) generations.set(stream, generationAfter(generation, event))
    return brokenByUser(generation, event)
  }

  const brokenAdministrators = ({ type, data }: AdministratorsEvent): string | null => {
    const { userId, revision } = data
    const known = counted.get(userId)
    counted.set(userId, type === 'AdministratorAdded')
    if (revision > (revisions.get(userStream(userId)) ?? -1)) return `user ${userId} is counted by an event that is not there`
    return type === 'AdministratorAdded' && known === true ? `user ${userId} is counted twice` : null
  }

  /** The events of these streams have been decoded by the codec of their type. */
  const brokenRule = ({ stream, type, data }: AuditedEvent, isGap: boolean): string | null => {
    if (stream === ADMISSION_STREAM) return admissions.broken({ type, data } as AdmissionEvent)
    if (stream === ADMINISTRATORS_STREAM) return brokenAdministrators({ type, data } as AdministratorsEvent)
    if (stream.startsWith('live-')) return brokenLive(stream, { type, data } as LiveEvent)
    if (stream.startsWith('user-')) return brokenUser(stream, { type, data } as UserEvent)
    return stream.startsWith('segments-') ? brokenSegment(stream, isGap, { type, data } as TranscriptEvent) : null
  }

  return {
    broken: (event) => {
      const before = revisions.get(event.stream) ?? -1
      revisions.set(event.stream, event.revision)
      return brokenRevision(event, before) ?? brokenRule(event, event.revision > before + 1)
    },
    open: () => admissions.open().map((reservation) => ({ reservation, live: statusOf(reservation.liveId) })),
  }
}
