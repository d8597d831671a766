import { openJobs } from '../../../application/jobs/jobs.ts'
import { modelsDirOf } from '../../../infrastructure/settings.ts'
import { assemble } from '../assemble.ts'
import { checkJob } from '../jobs/check-job.ts'
import { pullJob } from '../jobs/pull-job.ts'
import { rebuildJob } from '../jobs/rebuild-job.ts'
import { verifyJob } from '../jobs/verify-job.ts'
import { runStartStep } from '../start-step.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'
import type { ReadSide } from './read-side.ts'
import type { WriteSide } from './write-side.ts'

interface Needs {
  readonly foundation: Foundation
  readonly engines: Engines
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
}

export type JobsPart = Awaited<ReturnType<typeof startJobs>>

/** Starts the jobs of administrators: pull, verify, check and rebuild. */
export const startJobs = ({ foundation, engines, writeSide, readSide }: Needs) =>
  assemble(async (opened) => {
    const { settings, logger, stores: { members } } = foundation
    const { write, isShared } = writeSide
    const { rescan, onDisk, folderOf } = engines.files
    const hub = settings.hubUrl === null ? null : new URL(settings.hubUrl)
    const runsModels = engines.own !== null
    const runners = {
      pull: runsModels ? pullJob({ modelsDir: modelsDirOf(settings), hub, rescan }) : null,
      verify: runsModels ? verifyJob({ installed: onDisk, folderOf, rescan }) : null,
      check: checkJob(),
      rebuild: rebuildJob(readSide.projector),
    }
    const jobs = await runStartStep('read the jobs', () => openJobs({ ...write, members, isShared, logger, runners }))
    opened({ stop: jobs.stop })
    return { jobs }
  })
