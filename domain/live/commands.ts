import type { EventOf } from '../shared/event.ts'
import type { GivenVocabulary } from './vocabulary.ts'
import type { EndCause, LiveAborted, LiveCreated, LiveTakenOver, SourceStarted } from './events.ts'

type DataOf<Definition> = EventOf<Definition> extends { readonly data: infer Data } ? Omit<Data, 'at'> : never

/** Limits after which a session finishes, in milliseconds. 0: no limit. */
export interface TimeLimits {
  /** Applies to a pending session without a sender and without a process that pulls its audio. */
  readonly pendingTimeout: number
  /**
   * Counts from the moment when the session became active. If a sender has connected but sent no audio, the limit
   * counts from its connection.
   */
  readonly maxDuration: number
}

/**
 * `term`: leadership term of the worker that sends the command. Each takeover by another worker begins a new term, so a
 * term below the session's own term is refused.
 */
interface ByWorker {
  readonly term: number
}

export type LiveCommand =
  | { readonly type: 'CreateLive'; readonly data: DataOf<typeof LiveCreated> }
  /** A session has one sender at a time. The worker of the session has accepted this sender. */
  | ({ readonly type: 'AttachSender'; readonly instance: string } & ByWorker)
  | ({ readonly type: 'DetachSender'; readonly epoch: number } & ByWorker)
  | ({ readonly type: 'TakeOverLive' } & Omit<DataOf<typeof LiveTakenOver>, 'liveId' | 'userId'>)
  | ({ readonly type: 'ChangeVocabulary'; readonly vocabulary: GivenVocabulary } & ByWorker)
  | ({ readonly type: 'StartSource' } & Omit<DataOf<typeof SourceStarted>, 'liveId' | 'userId'> & ByWorker)
  | ({ readonly type: 'StartLive' } & ByWorker)
  /** By the API, the command line or the service itself. */
  | { readonly type: 'EndLive'; readonly cause: EndCause }
  | ({ readonly type: 'EndLiveInTerm'; readonly cause: EndCause } & ByWorker)
  /** `now`: the present time for the limits, in milliseconds since 1970. */
  | ({ readonly type: 'ExpireLive'; readonly now: number } & TimeLimits)
  | { readonly type: 'DeleteLive' }
  | ({ readonly type: 'AbortLive' } & DataOf<typeof LiveAborted>)

export interface AlreadyCreated { readonly _tag: 'AlreadyCreated' }
export interface LiveUnknown { readonly _tag: 'LiveUnknown' }
export interface LiveOver { readonly _tag: 'LiveOver' }
/** The worker's term has ended. Another worker runs the session: each takeover of a session begins a new term. */
export interface Superseded { readonly _tag: 'Superseded' }

/** The refusals of a worker's commands. Those that would start something are also refused after the end. */
export type EndRefusal = LiveUnknown | Superseded
export type StartRefusal = EndRefusal | LiveOver

export interface LiveRefusals {
  readonly CreateLive: AlreadyCreated | LiveOver
  readonly AbortLive: AlreadyCreated
  readonly AttachSender: StartRefusal
  readonly TakeOverLive: StartRefusal
  readonly ChangeVocabulary: StartRefusal
  readonly StartSource: StartRefusal
  readonly StartLive: StartRefusal
  readonly DetachSender: EndRefusal
  readonly EndLiveInTerm: EndRefusal
  readonly EndLive: LiveUnknown
  readonly ExpireLive: LiveUnknown
  readonly DeleteLive: LiveUnknown
}
