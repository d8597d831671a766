import * as E from 'fp-ts/lib/Either.js'
import type { JobFailed, ModelLoadFailed } from '../../../../application/ports/engine.ts'
import type { TranslateJob, TranslationEngine } from '../../../../application/ports/translation-engine.ts'

/** A translator that answers when a test says so. */
export interface ScriptedTranslator extends TranslationEngine {
  /** Jobs that wait for their answer, in the order in which they came. */
  readonly open: () => ReadonlyArray<TranslateJob>
  /** Every job so far. */
  readonly jobs: ReadonlyArray<TranslateJob>
  /** Models that were asked for ahead of time. */
  readonly loads: ReadonlyArray<string>
  /** Answers the oldest job that waits, of this target where one is named: by its text in brackets, or with a failure. */
  readonly answer: (to?: string, failure?: ModelLoadFailed | JobFailed) => void
}

/** What a scripted translator makes of a text. */
export const translated = (text: string, to: string): string => `[${to}: ${text}]`

/** `answers`: every job is answered at once. */
export const createScriptedTranslator = ({ answers = false }: { readonly answers?: boolean } = {}): ScriptedTranslator => {
  const jobs: Array<TranslateJob> = []
  const loads: Array<string> = []
  let open: ReadonlyArray<{ readonly job: TranslateJob; readonly resolve: (outcome: E.Either<ModelLoadFailed | JobFailed, string>) => void }> = []
  return {
    jobs,
    loads,
    open: () => open.map(({ job }) => job),
    load: (model) => async () => {
      loads.push(model)
      return E.right(undefined)
    },
    translate: (job) => () => {
      jobs.push(job)
      if (answers) return Promise.resolve(E.right(translated(job.text, job.to)))
      return new Promise((resolve) => {
        open = [...open, { job, resolve }]
      })
    },
    answer: (to, failure) => {
      const next = open.find(({ job }) => to === undefined || job.to === to)
      if (next === undefined) throw new Error('no job waits')
      open = open.filter((other) => other !== next)
      next.resolve(failure === undefined ? E.right(translated(next.job.text, next.job.to)) : E.left(failure))
    },
    pid: () => undefined,
    close: async () => undefined,
  }
}
