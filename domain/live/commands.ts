import type { EventOf } from '../shared/event.ts'
import type { GivenVocabulary } from './vocabulary.ts'
import type { FailureCode, FinishReason, LiveAborted, LiveCreated, LiveTakenOver, SourceStarted } from './events.ts'

type DataOf<Definition> = EventOf<Definition> extends { readonly data: infer Data } ? Data : never

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

/** `term`: as in `ByWorker`, or null when the API or the command line sends the command. */
interface ByWorkerOrOther {
  readonly term: number | null
}

export type LiveCommand =
  | { readonly type: 'CreateLive'; readonly data: DataOf<typeof LiveCreated> }
  /** A session has one sender at a time. The worker of the session has accepted this sender. */
  | ({ readonly type: 'AttachSender'; readonly instance: string; readonly at: string } & ByWorker)
  | ({ readonly type: 'DetachSender'; readonly epoch: number; readonly at: string } & ByWorker)
  | ({ readonly type: 'TakeOverLive' } & Omit<DataOf<typeof LiveTakenOver>, 'liveId' | 'userId'>)
  | ({ readonly type: 'ChangeVocabulary'; readonly vocabulary: GivenVocabulary; readonly at: string } & ByWorker)
  | ({ readonly type: 'StartSource' } & Omit<DataOf<typeof SourceStarted>, 'liveId' | 'userId'> & ByWorker)
  | ({ readonly type: 'StartLive'; readonly at: string } & ByWorker)
  | ({ readonly type: 'FinishLive'; readonly reason: FinishReason; readonly at: string } & ByWorkerOrOther)
  | ({
      readonly type: 'FailLive'
      readonly code: FailureCode
      readonly detail: string
      readonly at: string
    } & ByWorkerOrOther)
  /** `now`: the present time for the limits, in milliseconds since 1970. `at` is only recorded. */
  | ({ readonly type: 'ExpireLive'; readonly now: number; readonly at: string } & TimeLimits)
  | { readonly type: 'DeleteLive'; readonly at: string }
  | ({ readonly type: 'AbortLive' } & DataOf<typeof LiveAborted>)

export type LiveRefusal =
  /** Another command created a session with this id. */
  | { readonly _tag: 'AlreadyCreated' }
  | { readonly _tag: 'LiveUnknown' }
  /** The session has ended. */
  | { readonly _tag: 'LiveOver' }
  /** The worker's term has ended. Another worker runs the session. */
  | { readonly _tag: 'Superseded' }
