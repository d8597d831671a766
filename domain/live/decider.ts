import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import type { LiveCommand, LiveRefusal } from './commands.ts'
import { FIRST_TERM } from './events.ts'
import type { FinishReason, LiveCreated, LiveEvent } from './events.ts'
import { isSameVocabulary, NO_VOCABULARY } from './vocabulary.ts'
import type { GivenVocabulary } from './vocabulary.ts'

type LiveCreatedData = EventOf<typeof LiveCreated>['data']

/** A live that was created: everything that its answers need. */
export interface Live {
  readonly status: 'pending' | 'active' | 'finished' | 'error'
  /** As created; `created.config` are the settings of the request, `created.at` its time. */
  readonly created: LiveCreatedData
  /** How many senders were attached so far. */
  readonly epoch: number
  /** Of its placement: the worker of this term alone may change it. */
  readonly term: number
  /** The epoch of the sender that holds the live; null when it left, went with its worker, or the live ended. */
  readonly sender: number | null
  /** When a sender last came or left; null before the first. */
  readonly senderAt: string | null
  /** When it became active; null until then. */
  readonly startedAt: string | null
  /** What speakers are likely to say, as was said last. */
  readonly vocabulary: GivenVocabulary
  /** The last process of an auto-started live, kept after its end (D26). */
  readonly autoStartPid: number | null
  /** When the status or the pid last changed; null until then. */
  readonly updatedAt: string | null
}

/** `aborted`: fenced off before it was created; to the outside it never existed. `deleted`: it no longer does. */
export type LiveState = { readonly status: 'none' } | { readonly status: 'aborted' } | { readonly status: 'deleted' } | Live

/** A live that was made and not deleted. */
export const exists = (state: LiveState): state is Live =>
  state.status !== 'none' && state.status !== 'aborted' && state.status !== 'deleted'

type Decision = Either<LiveRefusal, ReadonlyArray<LiveEvent>>
type CommandOf<Type extends LiveCommand['type']> = Extract<LiveCommand, { readonly type: Type }>
/** Commands that speak to a live which must exist already. */
type LaterCommand = Exclude<LiveCommand, CommandOf<'CreateLive' | 'AbortLive' | 'ExpireLive' | 'DeleteLive'>>

const nothingToDo: Decision = E.right([])
const refuse = (_tag: LiveRefusal['_tag']): Decision => E.left({ _tag })

/** Repeating the same create changes nothing; a live that was fenced off can never be created. */
const create = (data: LiveCreatedData, state: LiveState): Decision => {
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

/** Fences off a create that never completed; once it did complete there is nothing to fence. */
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

const hasPassed = (since: string, limit: number, at: string): boolean => limit > 0 && Date.parse(at) - Date.parse(since) >= limit

/** The limit that a live has reached (D46). */
const expiry = (live: Live, { pendingTimeout, maxDuration, at }: CommandOf<'ExpireLive'>): FinishReason | null => {
  const since = live.senderAt ?? live.created.at
  if (live.status === 'active') return hasPassed(live.startedAt ?? since, maxDuration, at) ? 'max_duration' : null
  if (live.sender !== null) return hasPassed(since, maxDuration, at) ? 'max_duration' : null
  return live.autoStartPid === null && hasPassed(since, pendingTimeout, at) ? 'pending_timeout' : null
}

const expire = (command: CommandOf<'ExpireLive'>, state: LiveState): Decision => {
  if (state.status === 'none') return refuse('LiveUnknown')
  if (state.status !== 'pending' && state.status !== 'active') return nothingToDo
  const { liveId, userId } = state.created
  const reason = expiry(state, command)
  return reason === null ? nothingToDo : E.right([{ type: 'LiveFinished', data: { liveId, userId, at: command.at, reason } }])
}

const isSuperseded = ({ term }: LaterCommand, live: Live): boolean => term !== null && term < live.term

const aboutOf = ({ at }: LaterCommand, { created: { liveId, userId } }: Live) => ({ liveId, userId, at })

const changeVocabulary = (command: CommandOf<'ChangeVocabulary'>, live: Live): Decision => {
  const { vocabulary, term } = command
  if (isSameVocabulary(vocabulary, live.vocabulary)) return nothingToDo
  return E.right([{ type: 'VocabularyChanged', data: { ...aboutOf(command, live), term, vocabulary } }])
}

const startSource = (command: CommandOf<'StartSource'>, live: Live): Decision => {
  const { pid, sampleOffset, nextSegment, mediaSequence } = command
  const about = aboutOf(command, live)
  const source: LiveEvent = { type: 'SourceStarted', data: { ...about, pid, sampleOffset, nextSegment, mediaSequence } }
  // An auto-started live is active as soon as its process has a pid, without waiting for audio.
  const activates = live.status === 'pending' && live.created.autoStart && pid !== null
  return E.right(activates ? [source, { type: 'LiveStarted', data: about }] : [source])
}

const decideOpen = (command: LaterCommand, live: Live): Decision => {
  if (isSuperseded(command, live)) return refuse('Superseded')
  const about = aboutOf(command, live)
  switch (command.type) {
    case 'AttachSender': {
      const { instance, term } = command
      return E.right([{ type: 'SenderAttached', data: { ...about, epoch: live.epoch + 1, instance, term } }])
    }
    case 'DetachSender':
      return live.sender === command.epoch
        ? E.right([{ type: 'SenderDetached', data: { ...about, epoch: command.epoch } }])
        : nothingToDo
    case 'TakeOverLive': {
      const { worker, term } = command
      return term === live.term ? nothingToDo : E.right([{ type: 'LiveTakenOver', data: { ...about, worker, term } }])
    }
    case 'ChangeVocabulary':
      return changeVocabulary(command, live)
    case 'StartSource':
      return startSource(command, live)
    case 'StartLive':
      return live.status === 'active' ? nothingToDo : E.right([{ type: 'LiveStarted', data: about }])
    case 'FinishLive':
      return E.right([{ type: 'LiveFinished', data: { ...about, reason: command.reason } }])
    case 'FailLive':
      return E.right([{ type: 'LiveFailed', data: { ...about, code: command.code, detail: command.detail } }])
  }
}

/** A live that runs finishes first. */
const remove = (at: string, state: LiveState): Decision => {
  if (state.status === 'none') return refuse('LiveUnknown')
  if (!exists(state)) return nothingToDo
  const about = { liveId: state.created.liveId, userId: state.created.userId, at }
  const lastStatus = state.status === 'error' ? 'error' : 'finished'
  const deleted: LiveEvent = { type: 'LiveDeleted', data: { ...about, lastStatus } }
  if (state.status === lastStatus) return E.right([deleted])
  return E.right([{ type: 'LiveFinished', data: { ...about, reason: 'deleted' } }, deleted])
}

/** Terminal is final: ending again changes nothing, anything that would begin is refused. */
const decideOver = (command: LaterCommand): Decision => {
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
      return decideOver(command)
  }
}

const evolveLive = (live: Live, event: LiveEvent): Live => {
  switch (event.type) {
    case 'SenderAttached': {
      const { epoch, at } = event.data
      return { ...live, epoch, sender: epoch, senderAt: at }
    }
    case 'SenderDetached':
      return live.sender === event.data.epoch ? { ...live, sender: null, senderAt: event.data.at } : live
    case 'LiveTakenOver': {
      const { term, at } = event.data
      return { ...live, term, sender: null, senderAt: live.sender === null ? live.senderAt : at }
    }
    case 'VocabularyChanged':
      return { ...live, vocabulary: event.data.vocabulary }
    case 'SourceStarted':
      return live.created.autoStart ? { ...live, autoStartPid: event.data.pid, updatedAt: event.data.at } : live
    case 'LiveStarted':
      return { ...live, status: 'active', startedAt: event.data.at, updatedAt: event.data.at }
    case 'LiveFinished':
      return { ...live, status: 'finished', sender: null, updatedAt: event.data.at }
    case 'LiveFailed':
      return { ...live, status: 'error', sender: null, updatedAt: event.data.at }
    case 'LiveCreated':
    case 'LiveAborted':
    case 'LiveDeleted':
      return live
  }
}

const bornAs = (created: LiveCreatedData): Live => ({
  status: 'pending', created, epoch: 0, term: FIRST_TERM, sender: null, senderAt: null, startedAt: null,
  vocabulary: created.vocabulary ?? NO_VOCABULARY, autoStartPid: null, updatedAt: null,
})

/** Events that the rules never make (a first one that is no birth, any after a terminal one) change nothing. */
const evolve = (state: LiveState, event: LiveEvent): LiveState => {
  switch (state.status) {
    case 'none':
      if (event.type === 'LiveAborted') return { status: 'aborted' }
      if (event.type !== 'LiveCreated') return state
      return bornAs(event.data)
    case 'pending':
    case 'active':
      return evolveLive(state, event)
    case 'finished':
    case 'error':
      return event.type === 'LiveDeleted' ? { status: 'deleted' } : state
    case 'aborted':
    case 'deleted':
      return state
  }
}

/** One live: pending → active → finished | error, then perhaps deleted; or fenced off before it was created (R98). */
export const liveDecider: Decider<LiveState, LiveCommand, LiveEvent, LiveRefusal> = { initialState: { status: 'none' }, evolve, decide }
