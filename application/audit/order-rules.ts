import { ADMISSION_STREAM, type AdmissionEvent } from '../../domain/admission/events.ts'
import type { Reservation } from '../../domain/admission/state.ts'
import { ADMINISTRATORS_STREAM, type AdministratorsEvent } from '../../domain/administrators/events.ts'
import { liveDecider } from '../../domain/live/decider.ts'
import { isOpen, type Live, type LiveState } from '../../domain/live/state.ts'
import { type LiveEvent, liveStream, type LiveTakenOver } from '../../domain/live/events.ts'
import type { EventOf } from '../../domain/shared/event.ts'
import { termOf, type TranscriptEvent } from '../../domain/transcript/events.ts'
import { type UserEvent, userStream } from '../../domain/user/events.ts'
import { createAdmissionRules } from './admission-rules.ts'
import { createSegmentRules } from './segment-rules.ts'
import { isNeverShortened } from './shortening-rules.ts'

/** An event in clear text, with its place in the log. */
export interface AuditedEvent {
  readonly stream: string
  readonly revision: number
  readonly type: string
  readonly data: unknown
}

export interface OrderRules {
  /** Checks an event. Returns the rule that it breaks, or null. Call it for all events in the order of the log. */
  readonly check: (event: AuditedEvent) => string | null
  /** Returns the reservations after the events so far, with the status of their sessions. */
  readonly open: () => ReadonlyArray<{ readonly reservation: Reservation; readonly live: CheckedLive['status'] }>
}

/** `over`: finished or failed. The rest of the state is dropped, because a log may hold millions of ended sessions. */
type CheckedLive = LiveState | { readonly status: 'over' }
const OVER: CheckedLive = { status: 'over' }

const afterEnd = ({ type }: LiveEvent): CheckedLive => (type === 'LiveDeleted' ? { status: 'deleted' } : OVER)

const creationProblem = (event: LiveEvent, reserved: Reservation | undefined): string | null => {
  if (event.type === 'LiveAborted') return null
  if (event.type !== 'LiveCreated') return `${event.type} before the session was created`
  if (reserved === undefined) return 'the session was created without a reservation'
  const { userId, vram, worker } = event.data
  // The session may have been moved between its admission and its creation.
  const hasAssignment = reserved.worker === worker || reserved.worker === null || reserved.term > 1
  return reserved.userId === userId && reserved.vram === vram && hasAssignment
    ? null
    : 'the session differs from its reservation'
}

const takeoverProblem = (
  live: Live,
  { worker, term }: EventOf<typeof LiveTakenOver>['data'],
  reserved: Reservation | undefined,
): string | null => {
  if (term <= live.term) return `term ${term} after term ${live.term}`
  // The session may have been moved again in the meantime.
  const hasAssignment =
    reserved !== undefined &&
    (reserved.term > term || (reserved.term === term && [worker, null].includes(reserved.worker)))
  return hasAssignment ? null : `worker ${worker} took over the session in term ${term} without an assignment`
}

/** An event of a worker must have the present term of the session. `subject` names the event in the message. */
const termProblem = (live: Live, term: number, subject: string): string | null =>
  term === live.term ? null : `${subject} has term ${term} instead of term ${live.term}`

const openLiveProblem = (live: Live, event: LiveEvent, reserved: Reservation | undefined): string | null => {
  switch (event.type) {
    case 'LiveCreated':
    case 'LiveAborted':
      return `${event.type} although the session exists`
    case 'LiveDeleted':
      return 'the session was deleted before its end'
    case 'LiveStarted':
      return live.status === 'active' ? 'the session was started twice' : null
    case 'SenderAttached': {
      const { epoch } = event.data
      if (epoch !== live.epoch + 1) return `sender ${epoch} connected instead of sender ${live.epoch + 1}`
      return termProblem(live, termOf(event), `sender ${epoch}`)
    }
    case 'SenderDetached':
      return event.data.epoch === live.sender ? null : `sender ${event.data.epoch} left but was not connected`
    case 'LiveTakenOver':
      return takeoverProblem(live, event.data, reserved)
    case 'VocabularyChanged':
      return termProblem(live, event.data.term, event.type)
    case 'SourceStarted':
    case 'LiveFinished':
    case 'LiveFailed':
      return null
  }
}

const liveProblem = (state: CheckedLive, event: LiveEvent, reserved: Reservation | undefined): string | null => {
  switch (state.status) {
    case 'none':
      return creationProblem(event, reserved)
    case 'pending':
    case 'active':
      return openLiveProblem(state, event, reserved)
    case 'over':
    case 'finished':
    case 'error':
      return event.type === 'LiveDeleted' ? null : `${event.type} after the end of the session`
    case 'aborted':
    case 'deleted':
      return `${event.type} after the end of the session`
  }
}

/** Returns the new generation of a user's logins; null for an event that keeps it. */
const raisedGeneration = (event: UserEvent): number | null =>
  event.type === 'PasswordChanged' || event.type === 'LoginsEnded' ? event.data.generation : null

const userProblem = (generation: number | null | undefined, event: UserEvent): string | null => {
  if (generation === null) return `${event.type} after the user was deleted`
  if (event.type === 'UserRegistered') return generation === undefined ? null : 'the user was registered twice'
  if (generation === undefined) return `${event.type} before the user was registered`
  const raised = raisedGeneration(event)
  return raised !== null && raised <= generation ? `login generation ${raised} after ${generation}` : null
}

const generationAfter = (before: number | undefined, event: UserEvent): number | null => {
  if (event.type === 'UserDeleted') return null
  return raisedGeneration(event) ?? before ?? 0
}

/** Rules about the order of events that the write side always follows, checked again using only the log. */
export const createOrderRules = (): OrderRules => {
  const revisions = new Map<string, number>()
  const lives = new Map<number, CheckedLive>()
  const checkSegment = createSegmentRules()
  /** Generations of logins by stream. Null for a deleted user. */
  const generations = new Map<string, number | null>()
  /** By user id: true while the user is in the list of administrators. */
  const listed = new Map<number, boolean>()

  const statusOf = (liveId: number): CheckedLive['status'] => lives.get(liveId)?.status ?? 'none'
  const admissions = createAdmissionRules((liveId) => {
    const status = statusOf(liveId)
    return status !== 'none' && !isOpen({ status })
  })

  const checkRevision = ({ stream, revision }: AuditedEvent, before: number): string | null => {
    if (!isNeverShortened(stream)) return revision > before ? null : `revision ${revision} after revision ${before}`
    return revision === before + 1 ? null : `revision ${revision} instead of ${before + 1}`
  }

  const checkLive = (stream: string, event: LiveEvent): string | null => {
    const { liveId } = event.data
    if (stream !== liveStream(liveId)) return `an event of session ${liveId} in another stream`
    const state = lives.get(liveId) ?? liveDecider.initialState
    const problem = liveProblem(state, event, admissions.reservationOf(liveId))
    const next = state.status === 'over' ? afterEnd(event) : liveDecider.evolve(state, event)
    lives.set(liveId, next.status === 'finished' || next.status === 'error' ? OVER : next)
    return problem
  }

  const checkUser = (stream: string, event: UserEvent): string | null => {
    const generation = generations.get(stream)
    if (generation !== null) generations.set(stream, generationAfter(generation, event))
    return userProblem(generation, event)
  }

  const checkAdministrators = ({ type, data }: AdministratorsEvent): string | null => {
    const { userId, revision } = data
    const known = listed.get(userId)
    listed.set(userId, type === 'AdministratorAdded')
    const newest = revisions.get(userStream(userId)) ?? -1
    if (revision > newest)
      return `the list of administrators refers to an event of user ${userId} that is not in the log`
    const isRepeated = type === 'AdministratorAdded' && known === true
    return isRepeated ? `user ${userId} was added twice to the list of administrators` : null
  }

  /** The casts are safe, because the events were decoded by the codecs of their types. */
  const checkOrder = ({ stream, type, data }: AuditedEvent, isGap: boolean): string | null => {
    if (stream === ADMISSION_STREAM) return admissions.check({ type, data } as AdmissionEvent)
    if (stream === ADMINISTRATORS_STREAM) return checkAdministrators({ type, data } as AdministratorsEvent)
    if (stream.startsWith('live-')) return checkLive(stream, { type, data } as LiveEvent)
    if (stream.startsWith('user-')) return checkUser(stream, { type, data } as UserEvent)
    return stream.startsWith('segments-') ? checkSegment(stream, isGap, { type, data } as TranscriptEvent) : null
  }

  return {
    check: (event) => {
      const before = revisions.get(event.stream) ?? -1
      revisions.set(event.stream, event.revision)
      return checkRevision(event, before) ?? checkOrder(event, event.revision > before + 1)
    },
    open: () => admissions.open().map((reservation) => ({ reservation, live: statusOf(reservation.liveId) })),
  }
}
