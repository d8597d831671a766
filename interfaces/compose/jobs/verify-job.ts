import * as E from 'fp-ts/lib/Either.js'
import type { JobRunner } from '../../../application/jobs/job.ts'
import type { InstalledModels } from '../../../application/ports/installed-models.ts'
import { verifyFolder } from '../../../infrastructure/catalogue/verify-folder.ts'

interface VerifyJobOptions {
  readonly installed: Pick<InstalledModels, 'all'>
  readonly folderOf: (name: string) => string | undefined
  readonly rescan: () => Promise<void>
}

/** Does the work of `stenolog models verify`, for one model or for all models. */
export const verifyJob = ({ installed, folderOf, rescan }: VerifyJobOptions): JobRunner => ({
  problem: ({ subject }) =>
    subject === null || folderOf(subject) !== undefined ? null : 'should name an installed model',
  run: async ({ subject }, report, signal) => {
    const wanted = installed.all().filter(({ name }) => subject === null || name === subject)
    const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0)
    const models: Array<object> = []
    let done = 0
    for (const { name, bytes, ships } of wanted) {
      if (signal.aborted) return E.left('cancelled')
      report({ done, total, detail: name })
      // The measurements of a bundled model are not stored, because its files must not change.
      const { files, problem, trial, kept } = await verifyFolder(folderOf(name) ?? '', [], !ships)
      const ok = problem === null && files.every(({ state }) => state === 'ok')
      models.push({ name, ok, problem, files, megabytes: trial?.megabytes ?? null, kept })
      done += bytes
    }
    report({ done, total, detail: '' })
    // The catalogue reads the new measurements.
    await rescan()
    return E.right({ ok: models.every((model) => 'ok' in model && model.ok === true), models })
  },
})
