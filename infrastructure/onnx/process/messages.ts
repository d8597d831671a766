import type { Either } from 'fp-ts/lib/Either.js'
import type {
  Hypothesis, JobFailed, LoadedModel, ModelLoadFailed, SpeechProbabilities, TranscribeJob, VadState,
} from '../../../application/ports/engine.ts'
import type { ProviderChoice } from '../providers/execution-provider.ts'
import type { TranslateJob } from '../../../application/ports/translation-engine.ts'

/** The kind of models that an engine process runs: its first argument. The second argument is the UUID of its GPU. */
export type EngineRole = 'speech' | 'translation'

/**
 * A task for the engine process. Structured clone transfers it, so samples stay typed arrays. `folder` is the model's
 * current folder, or null when the model is not installed.
 */
export type Task =
  | { readonly kind: 'load'; readonly model: string; readonly folder: string | null }
  | { readonly kind: 'transcribe'; readonly job: TranscribeJob; readonly folder: string | null }
  | { readonly kind: 'detect'; readonly samples: Int16Array; readonly state: VadState }
  | { readonly kind: 'translate'; readonly job: TranslateJob; readonly folder: string | null }

/** To a worker thread: release the memory of its copy of the model. */
export interface Unload {
  readonly kind: 'unload'
  readonly model: string
}

/** To a worker thread: the outcome of a task is not needed any more. `place` is the index of the task in its batch. */
export interface Cancel {
  readonly kind: 'cancel'
  readonly place: number
}

/** The result of a task: null for a loaded translator, a string for a translation. */
type Result = LoadedModel | Hypothesis | SpeechProbabilities | string | null
export type Outcome = Either<ModelLoadFailed | JobFailed, Result>
/** From a worker thread with several tasks: the index of a task in the batch, and its outcome. */
export type PlacedOutcome = readonly [index: number, outcome: Outcome]

/** To the engine process, after `ready`. */
export type Request =
  /** `threads`: how many threads may now run tasks on the CPU. */
  | { readonly kind: 'task'; readonly id: number; readonly task: Task; readonly threads: number }
  /** The outcome is not needed any more. It still comes, but sooner. */
  | { readonly kind: 'cancel'; readonly id: number }

/** From the engine process. Each task gets one outcome, in any order. `began` precedes it, except for detection. */
export type Reply =
  /** The process takes tasks. `choice` is the device of its models. */
  | { readonly kind: 'ready'; readonly choice: ProviderChoice }
  /** A thread is about to run the task. `loads`: the thread loads the model first. */
  | { readonly kind: 'began'; readonly id: number; readonly loads: boolean }
  | { readonly kind: 'outcome'; readonly id: number; readonly outcome: Outcome }
