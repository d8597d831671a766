import type { Either } from 'fp-ts/lib/Either.js'
import type {
  Hypothesis,
  JobFailed,
  LoadedModel,
  ModelLoadFailed,
  SpeechProbabilities,
  TranscribeJob,
  VadState,
} from '../../../application/ports/engine.ts'
import type { ProviderChoice } from '../providers/execution-provider.ts'
import type { TranslateJob } from '../../../application/ports/translation-engine.ts'

/** Which models an engine process runs, its first argument: each kind has a process of its own. A second argument is the id of its GPU. */
export type EngineRole = 'speech' | 'translation'

/**
 * What the engine process is asked to do; structured clone carries it, so samples stay typed arrays. `folder` is where the model
 * lies now, null where none is installed under its name.
 */
export type Task =
  | { readonly kind: 'load'; readonly model: string; readonly folder: string | null }
  | { readonly kind: 'transcribe'; readonly job: TranscribeJob; readonly folder: string | null }
  | { readonly kind: 'detect'; readonly samples: Int16Array; readonly state: VadState }
  | { readonly kind: 'translate'; readonly job: TranslateJob; readonly folder: string | null }

/** To a worker thread: the memory of its set of the model is to be given back. */
export interface Unload {
  readonly kind: 'unload'
  readonly model: string
}

/** To a worker thread: nobody waits any more for the outcome of what it has at that place. */
export interface CallOff {
  readonly kind: 'callOff'
  readonly place: number
}

/** What a task of its kind gives; `null` of a translator that is loaded, the text of a translation. */
type Result = LoadedModel | Hypothesis | SpeechProbabilities | string | null
export type Outcome = Either<ModelLoadFailed | JobFailed, Result>
/** From a worker thread that has several tasks: the place of one among them, and its outcome. */
export type PlacedOutcome = readonly [index: number, outcome: Outcome]

/** To the engine process; `configure` comes first, as the answer to its `ready`. */
export type Request =
  | { readonly kind: 'configure'; readonly workers: number }
  | { readonly kind: 'task'; readonly id: number; readonly task: Task }
  /** Nobody waits for its outcome any more, which comes all the same, and sooner. */
  | { readonly kind: 'callOff'; readonly id: number }

/** From the engine process. Each task is answered once, in any order; of all but detection it is told first that it began. */
export type Reply =
  /** It can be configured; what its models will run on. */
  | { readonly kind: 'ready'; readonly choice: ProviderChoice }
  /** A thread is about to take it on; `loads`: one that has yet to load its model. */
  | { readonly kind: 'began'; readonly id: number; readonly loads: boolean }
  | { readonly kind: 'outcome'; readonly id: number; readonly outcome: Outcome }
