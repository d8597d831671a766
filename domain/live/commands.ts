import type { EventOf } from '../shared/event.ts'
import type { GivenVocabulary } from './vocabulary.ts'
import type { FailureCode, FinishReason, LiveAborted, LiveCreated, LiveTakenOver, SourceStarted } from './events.ts'

type DataOf<Definition> = EventOf<Definition> extends { readonly data: infer Data } ? Data : never

/** D46, in milliseconds; 0 is never. */
export interface TimeLimits {
  /** For a pending live without sender and background process. */
  readonly pendingTimeout: number
  /** From its start, or while a sender keeps it pending, from when that came. */
  readonly maxDuration: number
}

/** Of the worker that runs the live; below the live's own term the command is refused. */
interface ByWorker {
  readonly term: number
}

/** Of the worker that runs the live, or null of whoever else may end it. */
interface ByWorkerOrOther {
  readonly term: number | null
}

export type LiveCommand =
  | { readonly type: 'CreateLive'; readonly data: DataOf<typeof LiveCreated> }
  /** The worker has the live's one place to give, and has given it to this sender. */
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
  | ({ readonly type: 'ExpireLive'; readonly at: string } & TimeLimits)
  | { readonly type: 'DeleteLive'; readonly at: string }
  | ({ readonly type: 'AbortLive' } & DataOf<typeof LiveAborted>)

export type LiveRefusal =
  /** By another command than this one: its id is taken. */
  | { readonly _tag: 'AlreadyCreated' }
  | { readonly _tag: 'LiveUnknown' }
  | { readonly _tag: 'LiveOver' }
  /** The worker's term is over: another one has the live. */
  | { readonly _tag: 'Superseded' }
