import * as t from 'io-ts'
import { term } from '../admission/events.ts'
import { boundedInteger, instant } from '../shared/codecs.ts'
import type { SnapshotFormat } from '../shared/snapshot.ts'
import { FIRST_TERM, LiveCreated, type LiveCreatedData, type LiveEvent, liveKey, sourcePoint } from './events.ts'
import { type GivenVocabulary, NO_VOCABULARY, sealedVocabulary } from './vocabulary.ts'

/** A session that was created. */
export interface Live {
  readonly status: 'pending' | 'active' | 'finished' | 'error'
  /** The data of the create event. */
  readonly created: LiveCreatedData
  /** Number of senders that have connected so far. */
  readonly epoch: number
  /** Leadership term. Only the worker of this term may change the session. */
  readonly term: number
  /** The worker of this term. */
  readonly worker: string
  /** Epoch of the connected sender: its number among all senders of the session. Null while no sender is connected. */
  readonly sender: number | null
  /** When a sender last connected or left. Null before the first sender. */
  readonly senderAt: string | null
  /** When the session became active. Null until then. */
  readonly startedAt: string | null
  /** The newest list of words that speakers are likely to use. */
  readonly vocabulary: GivenVocabulary
  /** Where the last process that pulled the audio began. Null before the first. */
  readonly source: t.TypeOf<typeof sourcePoint> | null
  /** Process id of the last process that pulled the audio of an auto-started session. Kept after the session ended. */
  readonly autoStartPid: number | null
  /** When the status or the pid last changed. Null until then. */
  readonly updatedAt: string | null
}

/** True for a session that has not ended: pending or active. */
export const isOpen = <S extends { readonly status: string }>(
  state: S,
): state is S & { readonly status: 'pending' | 'active' } => state.status === 'pending' || state.status === 'active'

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
      const { at, term, worker } = event.data
      return { ...live, term, worker, sender: null, senderAt: live.sender === null ? live.senderAt : at }
    }
    case 'VocabularyChanged':
      return { ...live, vocabulary: event.data.vocabulary }
    case 'SourceStarted': {
      const { pid, at, sampleOffset, nextSegment, mediaSequence } = event.data
      const started = { ...live, source: { sampleOffset, nextSegment, mediaSequence } }
      return live.created.autoStart ? { ...started, autoStartPid: pid, updatedAt: at } : started
    }
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

/** Returns a session right after its creation. */
export const newLive = (created: LiveCreatedData): Live => ({
  status: 'pending', created, epoch: 0, term: FIRST_TERM, worker: created.worker, sender: null, senderAt: null,
  startedAt: null, vocabulary: created.vocabulary ?? NO_VOCABULARY, source: null, autoStartPid: null, updatedAt: null,
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

const maybe = <A>(codec: t.Type<A, unknown>) => t.union([codec, t.null])

const liveState: t.Type<LiveState, unknown> = t.union([
  t.strict({ status: t.keyof({ none: null, aborted: null, deleted: null }) }),
  t.strict({
    status: t.keyof({ pending: null, active: null, finished: null, error: null }),
    created: LiveCreated.codec,
    epoch: boundedInteger(0, 1e9),
    term,
    worker: t.string,
    sender: maybe(boundedInteger(1, 1e9)),
    senderAt: maybe(instant),
    startedAt: maybe(instant),
    vocabulary: sealedVocabulary,
    source: maybe(sourcePoint),
    autoStartPid: maybe(boundedInteger(1, 2 ** 31)),
    updatedAt: maybe(instant),
  }),
])

/** All snapshots are kept, because the history shows every earlier state. */
export const liveSnapshots: SnapshotFormat<LiveState> = {
  version: 1,
  codec: liveState,
  keyOf: (state) => (exists(state) ? liveKey(state.created.liveId) : null),
  isKept: true,
}
