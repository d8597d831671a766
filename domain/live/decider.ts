import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { decideBy, type DeciderByCommand, type Decisions } from '../shared/decider.ts'
import type { EndRefusal, LiveCommand, LiveRefusals, StartRefusal, Superseded, TimeLimits } from './commands.ts'
import type { EndCause, FinishReason, LiveEvent } from './events.ts'
import { evolve, exists, isOpen, type Live, liveSnapshots, type LiveState } from './state.ts'
import { isSameVocabulary } from './vocabulary.ts'

type Rules = Decisions<LiveState, LiveCommand, LiveEvent, LiveRefusals>
type Events = ReadonlyArray<LiveEvent>

const nothingToDo: Either<never, Events> = E.right([])
const alreadyCreated = E.left({ _tag: 'AlreadyCreated' } as const)
const unknown = E.left({ _tag: 'LiveUnknown' } as const)
const over = E.left({ _tag: 'LiveOver' } as const)
const superseded = E.left({ _tag: 'Superseded' } as const)

/** Repeating a create changes nothing. An aborted session can never be created. */
const create: Rules['CreateLive'] = ({ data, at }, state) => {
  switch (state.status) {
    case 'none': {
      const { liveId, commandId, worker, userId, ...chosen } = data
      // The history shows the members in this order.
      return E.right([{ type: 'LiveCreated', data: { liveId, commandId, worker, userId, at, ...chosen } }])
    }
    case 'aborted':
      return over
    case 'deleted':
      return alreadyCreated
    case 'pending':
    case 'active':
    case 'finished':
    case 'error':
      return state.created.commandId === data.commandId ? nothingToDo : alreadyCreated
  }
}

/** Fences a create that did not complete, so this session can never be created. A completed create is not aborted. */
const abort: Rules['AbortLive'] = ({ liveId, userId, reason, at }, state) => {
  switch (state.status) {
    case 'none':
      return E.right([{ type: 'LiveAborted', data: { liveId, userId, reason, at } }])
    case 'aborted':
      return nothingToDo
    case 'deleted':
    case 'pending':
    case 'active':
    case 'finished':
    case 'error':
      return alreadyCreated
  }
}

/** The members of a session that decide when it reaches a time limit. */
type LimitedLive = Pick<Live, 'status' | 'sender' | 'senderAt' | 'startedAt' | 'autoStartPid'> & {
  readonly created: Pick<Live['created'], 'at'>
}

interface NextLimit {
  readonly reason: FinishReason
  /** Milliseconds since 1970. */
  readonly at: number
}

const limitFrom = (since: string, limit: number, reason: FinishReason): NextLimit | null =>
  limit > 0 ? { reason, at: Date.parse(since) + limit } : null

/** Returns the instant of the event from which the time limit of an open session counts. */
export const limitedSince = ({ status, startedAt, senderAt, created }: LimitedLive): string =>
  (status === 'active' ? startedAt : null) ?? senderAt ?? created.at

/** Returns the time limit that an open session reaches next if nothing happens. Null: it reaches none. */
export const nextLimit = (live: LimitedLive, { pendingTimeout, maxDuration }: TimeLimits): NextLimit | null => {
  const since = limitedSince(live)
  if (live.status === 'active') return limitFrom(since, maxDuration, 'max_duration')
  if (live.sender !== null) return limitFrom(since, maxDuration, 'max_duration')
  return live.autoStartPid === null ? limitFrom(since, pendingTimeout, 'pending_timeout') : null
}

/** Returns the same for a session to which nothing has happened since its creation. */
export const firstLimit = (createdAt: string, limits: TimeLimits): NextLimit | null =>
  limitFrom(createdAt, limits.pendingTimeout, 'pending_timeout')

const commonOf = ({ created: { liveId, userId } }: Live, at: string) => ({ liveId, userId, at })

const ended = (live: Live, cause: EndCause, at: string): LiveEvent => {
  const common = commonOf(live, at)
  return cause.status === 'finished'
    ? { type: 'LiveFinished', data: { ...common, reason: cause.reason } }
    : { type: 'LiveFailed', data: { ...common, code: cause.code, detail: cause.detail } }
}

const expire: Rules['ExpireLive'] = (command, state) => {
  if (state.status === 'none') return unknown
  if (!isOpen(state)) return nothingToDo
  const next = nextLimit(state, command)
  if (next === null || command.now < next.at) return nothingToDo
  return E.right([ended(state, { status: 'finished', reason: next.reason }, command.at)])
}

/** Deletes a session. A running session finishes first. */
const remove: Rules['DeleteLive'] = ({ at }, state) => {
  if (state.status === 'none') return unknown
  if (!exists(state)) return nothingToDo
  const lastStatus = state.status === 'error' ? 'error' : 'finished'
  const deleted: LiveEvent = { type: 'LiveDeleted', data: { ...commonOf(state, at), lastStatus } }
  return E.right(isOpen(state) ? [ended(state, { status: 'finished', reason: 'deleted' }, at), deleted] : [deleted])
}

const end: Rules['EndLive'] = ({ cause, at }, state) => {
  if (state.status === 'none') return unknown
  return isOpen(state) ? E.right([ended(state, cause, at)]) : nothingToDo
}

/** What a command of the worker does to an open session. */
type DecideOpen<Command> = (command: Command, live: Live) => Events

const inTerm = <Command extends { readonly term: number }>(
  decideOpen: DecideOpen<Command>, command: Command, live: Live,
): Either<Superseded, Events> =>
  command.term < live.term ? superseded : E.right(decideOpen(command, live))

/** Returns the rule of a command that would start something. After the end it is refused. */
const starting = <Command extends { readonly term: number }>(decideOpen: DecideOpen<Command>) =>
  (command: Command, state: LiveState): Either<StartRefusal, Events> => {
    if (state.status === 'none') return unknown
    return isOpen(state) ? inTerm(decideOpen, command, state) : over
  }

/** Returns the rule of a command that ends something. After the end it changes nothing. */
const ending = <Command extends { readonly term: number }>(decideOpen: DecideOpen<Command>) =>
  (command: Command, state: LiveState): Either<EndRefusal, Events> => {
    if (state.status === 'none') return unknown
    return isOpen(state) ? inTerm(decideOpen, command, state) : nothingToDo
  }

const rules: Rules = {
  CreateLive: create,
  AbortLive: abort,
  ExpireLive: expire,
  DeleteLive: remove,
  EndLive: end,
  EndLiveInTerm: ending(({ cause, at }, live) => [ended(live, cause, at)]),
  AttachSender: starting(({ instance, term, at }, live) =>
    [{ type: 'SenderAttached', data: { ...commonOf(live, at), epoch: live.epoch + 1, instance, term } }]),
  DetachSender: ending(({ epoch, at }, live) =>
    live.sender === epoch ? [{ type: 'SenderDetached', data: { ...commonOf(live, at), epoch } }] : []),
  TakeOverLive: starting(({ worker, term, at }, live) =>
    term === live.term ? [] : [{ type: 'LiveTakenOver', data: { ...commonOf(live, at), worker, term } }]),
  ChangeVocabulary: starting(({ vocabulary, term, at }, live) =>
    isSameVocabulary(vocabulary, live.vocabulary)
      ? []
      : [{ type: 'VocabularyChanged', data: { ...commonOf(live, at), term, vocabulary } }]),
  StartSource: starting(({ pid, sampleOffset, nextSegment, mediaSequence, at }, live) => {
    const common = commonOf(live, at)
    const source: LiveEvent =
      { type: 'SourceStarted', data: { ...common, pid, sampleOffset, nextSegment, mediaSequence } }
    // An auto-started session becomes active as soon as its process has a pid, before any audio arrives.
    const activates = live.status === 'pending' && live.created.autoStart && pid !== null
    return activates ? [source, { type: 'LiveStarted', data: common }] : [source]
  }),
  StartLive: starting(({ at }, live) =>
    live.status === 'active' ? [] : [{ type: 'LiveStarted', data: commonOf(live, at) }]),
}

/**
 * The rules of one session. Its status goes from pending to active, then to finished or error, and perhaps to deleted.
 * An incomplete create ends as aborted.
 */
export const liveDecider: DeciderByCommand<LiveState, LiveCommand, LiveEvent, LiveRefusals> = {
  initialState: { status: 'none' },
  evolve,
  decide: decideBy(rules),
  snapshots: liveSnapshots,
}
