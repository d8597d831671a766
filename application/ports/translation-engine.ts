import type { Either } from 'fp-ts/lib/Either.js'
import type { JobFailed, ModelLoadFailed } from './engine.ts'

export interface TranslateJob {
  readonly model: string
  readonly text: string
  /** ISO 639-1. */
  readonly from: string
  readonly to: string
}

/**
 * Runs translators in a separate process, so they cannot crash the speech engine. After a crash the unfinished
 * jobs run again, one at a time. A job that crashes the process while it runs alone fails with JobFailed.
 */
export interface TranslationEngine {
  /** Loads a model in advance. Otherwise the first translation loads it. */
  readonly load: (model: string) => Promise<Either<ModelLoadFailed, void>>
  /** Translates the whole text, sentence by sentence. */
  readonly translate: (job: TranslateJob) => Promise<Either<ModelLoadFailed | JobFailed, string>>
  readonly pid: () => number | undefined
  readonly close: () => Promise<void>
}

/** Numbers of translations since the start of the process. `waiting` and `lagSeconds` describe the present moment. */
export interface TranslationFigures {
  readonly done: number
  /** Failed because the translator failed or is missing. */
  readonly failed: number
  /** Dropped because the session ended. */
  readonly dropped: number
  /** Skipped because too many newer segments were waiting. */
  readonly skipped: number
  readonly waiting: number
  /** Age of the oldest waiting segment, in seconds. 0 when none waits. */
  readonly lagSeconds: number
}
