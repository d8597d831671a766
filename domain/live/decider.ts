import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { LiveCommand, LiveRefusal, TimeLimits } from './commands.ts'
import type { FinishReason, LiveEvent } from './events.ts'
import { evolve, exists, isOpen, liveSnapshots } from './state.ts'
import type { Live, LiveState } from './state.ts'
import { isSameVocabulary } from './vocabulary.ts'

type Decision = Either<LiveRefusal, ReadonlyArray<LiveEvent>>
type CommandOf<Type extends LiveCommand['type']> = Extract<LiveCommand, { readonly type: Type }>
/** Commands that need an existing session. */
type LaterCommand = Exclude<LiveCommand, CommandOf<'CreateLive' | 'AbortLive' | 'ExpireLive' | 'DeleteLive'>>

const nothingToDo: Decision = E.right([])
const refuse = (_tag: LiveRefusal['_tag']): Decision => E.left({ _tag })

/** Repeating a create changes nothing. An aborted session can never be created. */
const create = (data: Live['created'], state: LiveState): Decision => {
  switch (state.status) {
    case 'none':
      return E.right([{ type: 'LiveCreated', data }])
    case 'aborted':
      return refuse('LiveOver')
    case 'deleted':
      return refuse('AlreadyCreated')
    case 'pending':
    case 'active':
    case 'finished':
    case 'error':
      return state.created.commandId === data.commandId ? nothingToDo : refuse('AlreadyCreated')
  }
}

/** Fences a create that did not complete, so this session can never be created. A completed create is not aborted. */
const abort = ({ liveId, userId, reason, at }: CommandOf<'AbortLive'>, state: LiveState): Decision => {
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
      return refuse('AlreadyCreated')
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

const expire = (command: CommandOf<'ExpireLive'>, state: LiveState): Decision => {
  if (state.status === 'none') return refuse('LiveUnknown')
  if (!isOpen(state)) return nothingToDo
  const { liveId, userId } = state.created
  const next = nextLimit(state, command)
  if (next === null || command.now < next.at) return nothingToDo
  return E.right([{ type: 'LiveFinished', data: { liveId, userId, at: command.at, reason: next.reason } }])
}

const isSuperseded = ({ term }: LaterCommand, live: Live): boolean => term !== null && term < live.term

const commonOf = ({ at }: LaterCommand, { created: { liveId, userId } }: Live) => ({ liveId, userId, at })

const changeVocabulary = (command: CommandOf<'ChangeVocabulary'>, live: Live): Decision => {
  const { vocabulary, term } = command
  if (isSameVocabulary(vocabulary, live.vocabulary)) return nothingToDo
  return E.right([{ type: 'VocabularyChanged', data: { ...commonOf(command, live), term, vocabulary } }])
}

const startSource = (command: CommandOf<'StartSource'>, live: Live): Decision => {
  const { pid, sampleOffset, nextSegment, mediaSequence } = command
  const common = commonOf(command, live)
  const source: LiveEvent =
    { type: 'SourceStarted', data: { ...common, pid, sampleOffset, nextSegment, mediaSequence } }
  // An auto-started session becomes active as soon as its process has a pid, before any audio arrives.
  const activates = live.status === 'pending' && live.created.autoStart && pid !== null
  return E.right(activates ? [source, { type: 'LiveStarted', data: common }] : [source])
}

const decideOpen = (command: LaterCommand, live: Live): Decision => {
  if (isSuperseded(command, live)) return refuse('Superseded')
  const common = commonOf(command, live)
  switch (command.type) {
    case 'AttachSender': {
      const { instance, term } = command
      return E.right([{ type: 'SenderAttached', data: { ...common, epoch: live.epoch + 1, instance, term } }])
    }
    case 'DetachSender':
      return live.sender === command.epoch
        ? E.right([{ type: 'SenderDetached', data: { ...common, epoch: command.epoch } }])
        : nothingToDo
    case 'TakeOverLive': {
      const { worker, term } = command
      return term === live.term ? nothingToDo : E.right([{ type: 'LiveTakenOver', data: { ...common, worker, term } }])
    }
    case 'ChangeVocabulary':
      return changeVocabulary(command, live)
    case 'StartSource':
      return startSource(command, live)
    case 'StartLive':
      return live.status === 'active' ? nothingToDo : E.right([{ type: 'LiveStarted', data: common }])
    case 'FinishLive':
      return E.right([{ type: 'LiveFinished', data: { ...common, reason: command.reason } }])
    case 'FailLive':
      return E.right([{ type: 'LiveFailed', data: { ...common, code: command.code, detail: command.detail } }])
  }
}

/** Deletes a session. A running session finishes first. */
const remove = (at: string, state: LiveState): Decision => {
  if (state.status === 'none') return refuse('LiveUnknown')
  if (!exists(state)) return nothingToDo
  const common = { liveId: state.created.liveId, userId: state.created.userId, at }
  const lastStatus = state.status === 'error' ? 'error' : 'finished'
  const deleted: LiveEvent = { type: 'LiveDeleted', data: { ...common, lastStatus } }
  if (state.status === lastStatus) return E.right([deleted])
  return E.right([{ type: 'LiveFinished', data: { ...common, reason: 'deleted' } }, deleted])
}

/**
 * Decides commands for a session that has ended. Ending it again changes nothing. Commands that would start something
 * are refused.
 */
const decideEnded = (command: LaterCommand): Decision => {
  switch (command.type) {
    case 'AttachSender':
    case 'TakeOverLive':
    case 'ChangeVocabulary':
    case 'StartSource':
    case 'StartLive':
      return refuse('LiveOver')
    case 'DetachSender':
    case 'FinishLive':
    case 'FailLive':
      return nothingToDo
  }
}

const decide = (command: LiveCommand, state: LiveState): Decision => {
  if (command.type === 'CreateLive') return create(command.data, state)
  if (command.type === 'AbortLive') return abort(command, state)
  if (command.type === 'ExpireLive') return expire(command, state)
  if (command.type === 'DeleteLive') return remove(command.at, state)
  switch (state.status) {
    case 'none':
      return refuse('LiveUnknown')
    case 'pending':
    case 'active':
      return decideOpen(command, state)
    case 'finished':
    case 'error':
    case 'aborted':
    case 'deleted':
      return decideEnded(command)
  }
}

/**
 * The rules of one session. Its status goes from pending to active, then to finished or error, and perhaps to deleted.
 * An incomplete create ends as aborted.
 */
export const liveDecider: Decider<LiveState, LiveCommand, LiveEvent, LiveRefusal> = {
  initialState: { status: 'none' },
  evolve,
  decide,
  snapshots: liveSnapshots,
}
