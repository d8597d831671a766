import type { EventOf } from '../shared/event.ts'
import { FIRST_TERM } from './events.ts'
import type { LiveCreated, LiveEvent } from './events.ts'
import { NO_VOCABULARY } from './vocabulary.ts'
import type { GivenVocabulary } from './vocabulary.ts'

type LiveCreatedData = EventOf<typeof LiveCreated>['data']

/** A session that was created. */
export interface Live {
  readonly status: 'pending' | 'active' | 'finished' | 'error'
  /** The data of the create event. */
  readonly created: LiveCreatedData
  /** Number of senders that have connected so far. */
  readonly epoch: number
  /** Leadership term. Only the worker of this term may change the session. */
  readonly term: number
  /** Epoch of the connected sender: its number among all senders of the session. Null while no sender is connected. */
  readonly sender: number | null
  /** When a sender last connected or left. Null before the first sender. */
  readonly senderAt: string | null
  /** When the session became active. Null until then. */
  readonly startedAt: string | null
  /** The newest list of words that speakers are likely to use. */
  readonly vocabulary: GivenVocabulary
  /** Process id of the last process that pulled the audio of an auto-started session. Kept after the session ended. */
  readonly autoStartPid: number | null
  /** When the status or the pid last changed. Null until then. */
  readonly updatedAt: string | null
}

/** `aborted`: the create was stopped (fenced) before it completed, so clients never saw the session. */
export type LiveState =
  | { readonly status: 'none' }
  | { readonly status: 'aborted' }
  | { readonly status: 'deleted' }
  | Live

/** True for a session that was created and not deleted. */
export const exists = (state: LiveState): state is Live =>
  state.status !== 'none' && state.status !== 'aborted' && state.status !== 'deleted'

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

const newLive = (created: LiveCreatedData): Live => ({
  status: 'pending', created, epoch: 0, term: FIRST_TERM, sender: null, senderAt: null, startedAt: null,
  vocabulary: created.vocabulary ?? NO_VOCABULARY, autoStartPid: null, updatedAt: null,
})

/** Ignores events that the decider never returns, such as events before the create. */
export const evolve = (state: LiveState, event: LiveEvent): LiveState => {
  switch (state.status) {
    case 'none':
      if (event.type === 'LiveAborted') return { status: 'aborted' }
      if (event.type !== 'LiveCreated') return state
      return newLive(event.data)
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
