import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { JobFailed, ModelLoadFailed } from '../../../../application/ports/engine.ts'
import type { TranslateJob, TranslationEngine } from '../../../../application/ports/translation-engine.ts'

type Failure = ModelLoadFailed | JobFailed

/** A translator that answers when the test calls `answer`. */
export interface ScriptedTranslator extends TranslationEngine {
  /** Jobs without an answer, oldest first. */
  readonly open: () => ReadonlyArray<TranslateJob>
  /** Every job so far. */
  readonly jobs: ReadonlyArray<TranslateJob>
  /** Models that were loaded ahead of time. */
  readonly loads: ReadonlyArray<string>
  /** Answers the oldest open job (of the target language `to`, if given) with a translation or a failure. */
  readonly answer: (to?: string, failure?: Failure) => void
}

/** The translation of a text by a scripted translator. */
export const translated = (text: string, to: string): string => `[${to}: ${text}]`

interface OpenJob {
  readonly job: TranslateJob
  readonly resolve: (outcome: Either<Failure, string>) => void
}

/** `answers`: every job is answered at once. */
export const createScriptedTranslator = ({ answers = false } = {}): ScriptedTranslator => {
  const jobs: Array<TranslateJob> = []
  const loads: Array<string> = []
  let open: ReadonlyArray<OpenJob> = []
  return {
    jobs,
    loads,
    open: () => open.map(({ job }) => job),
    load: async (model) => {
      loads.push(model)
      return E.right(undefined)
    },
    translate: (job) => {
      jobs.push(job)
      if (answers) return Promise.resolve(E.right(translated(job.text, job.to)))
      return new Promise((resolve) => {
        open = [...open, { job, resolve }]
      })
    },
    answer: (to, failure) => {
      const next = open.find(({ job }) => to === undefined || job.to === to)
      if (next === undefined) throw new Error('no translation job is open')
      open = open.filter((other) => other !== next)
      next.resolve(failure === undefined ? E.right(translated(next.job.text, next.job.to)) : E.left(failure))
    },
    pid: () => undefined,
    close: async () => undefined,
  }
}
