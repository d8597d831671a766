import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { JobFailed, ModelLoadFailed } from './engine.ts'

export interface TranslateJob {
  readonly model: string
  readonly text: string
  /** ISO 639-1. */
  readonly from: string
  readonly to: string
}

/**
 * Translators in a process of their own, so that none of them can harm the speech engine. It keeps nothing between calls:
 * jobs that were in flight when the process died run again, one at a time; one that dies alone is JobFailed.
 */
export interface TranslationEngine {
  /** Makes the first translation prompt; without it that one loads the model. */
  readonly load: (model: string) => TaskEither<ModelLoadFailed, void>
  /** The whole text, sentence by sentence. */
  readonly translate: (job: TranslateJob) => TaskEither<ModelLoadFailed | JobFailed, string>
  readonly pid: () => number | undefined
  readonly close: () => Promise<void>
}

/** Since the start of the process, but for what waits now. */
export interface TranslationFigures {
  readonly done: number
  /** The translator broke or is missing. */
  readonly failed: number
  /** Given up because their live ended. */
  readonly dropped: number
  /** Given up because too many newer ones waited behind them. */
  readonly skipped: number
  readonly waiting: number
  /** Age of the oldest that waits, in seconds; 0 when none does. */
  readonly lagSeconds: number
}
