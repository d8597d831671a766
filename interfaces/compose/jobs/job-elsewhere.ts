import * as E from 'fp-ts/lib/Either.js'
import type { JobRunner } from '../../../application/jobs/job.ts'

const ELSEWHERE = 'names a model, and this process runs none: ask a worker, or use stenolog models on its machine'

/** In place of what is done to the models of a machine, in a process that runs none. */
export const jobElsewhere: JobRunner = { problem: () => ELSEWHERE, run: async () => E.left(ELSEWHERE) }
