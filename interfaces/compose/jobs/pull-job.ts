import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { JobRunner } from '../../../application/jobs/job.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { modelNameOf } from '../../../infrastructure/catalogue/models.ts'
import { measuredBy, tryModel } from '../../../infrastructure/catalogue/trial.ts'
import { hubSource } from '../../../infrastructure/hub/hub-source.ts'
import { pullModel } from '../../../infrastructure/hub/pull.ts'

interface PullJobOptions {
  readonly modelsDir: string
  /** Address of the model hub. Null for the public hub. */
  readonly hub: URL | null
  readonly rescan: () => Promise<void>
}

const DOES_NOT_RUN = 'the model does not run on this machine, so it was not installed'

/** Does the work of `stenolog models pull`, except that it cannot install a folder of this machine. */
export const pullJob = ({ modelsDir, hub, rescan }: PullJobOptions): JobRunner => ({
  problem: ({ subject }) => {
    if (subject === null) return 'should name the model to pull'
    const found = hubSource(subject, hub)
    return E.isLeft(found) ? found.left : null
  },
  run: async ({ subject, precision, force }, report, signal) => {
    const found = hubSource(subject ?? '', hub, { signal })
    if (E.isLeft(found)) return found
    const { source, name } = found.right
    report({ detail: `connecting to ${hub?.host ?? 'the hub'}` })
    try {
      const { manifest } = await pullModel({
        source,
        modelsDir,
        name,
        precision,
        force,
        check: async (staged) => {
          signal.throwIfAborted()
          report({ detail: 'loading the model' })
          const measured = measuredBy(orThrow(await tryModel(staged), DOES_NOT_RUN))
          signal.throwIfAborted()
          return measured
        },
        // An abort ends the pull. The next pull continues with the received bytes.
        onProgress: (done, total, path) => {
          signal.throwIfAborted()
          report({ done, total, detail: path })
        },
        wait: (milliseconds) => {
          report({ detail: 'the hub does not answer; trying again' })
          return setTimeout(milliseconds, undefined, { signal })
        },
      })
      await rescan()
      const bytes = manifest.files.reduce((sum, { size }) => sum + size, 0)
      const about = { source: manifest.source, commit: manifest.commit, precision: manifest.precision }
      return E.right({ name: modelNameOf(name), ...about, bytes, megabytes: manifest.vram?.megabytes ?? null })
    } catch (error) {
      return E.left(messageOf(error))
    }
  },
})
