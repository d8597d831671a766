import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { JobRunner } from '../../application/jobs/job.ts'
import { type Jobs, openJobs } from '../../application/jobs/jobs.ts'
import type { InstalledModels } from '../../application/ports/installed-models.ts'
import type { Projector } from '../../application/ports/projector.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { parseJson } from '../../domain/shared/parse-json.ts'
import { modelNameOf } from '../../infrastructure/catalogue/models.ts'
import { measuredBy, tryModel } from '../../infrastructure/catalogue/trial.ts'
import { verifyFolder } from '../../infrastructure/catalogue/verify-folder.ts'
import { hubSource } from '../../infrastructure/model-hub/hub-source.ts'
import { pullModel } from '../../infrastructure/model-hub/pull.ts'
import { hasServers, modelsDirOf } from '../../infrastructure/settings/settings.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { inputOfChildren } from '../hang-up.ts'
import type { Core } from './service.ts'
import { runStartStep } from './start-step.ts'

interface PullJobOptions {
  readonly modelsDir: string
  /** Address of the model hub. Null for the public hub. */
  readonly hub: URL | null
  readonly rescan: () => Promise<void>
}

const DOES_NOT_RUN = 'the model does not run on this machine, so it was not installed'

/** Does the work of `stenolog models pull`, except that it cannot install a folder of this machine. */
const pullJob = ({ modelsDir, hub, rescan }: PullJobOptions): JobRunner => ({
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

interface VerifyJobOptions {
  readonly installed: Pick<InstalledModels, 'all'>
  readonly folderOf: (name: string) => string | undefined
  readonly rescan: () => Promise<void>
}

/** Does the work of `stenolog models verify`, for one model or for all models. */
const verifyJob = ({ installed, folderOf, rescan }: VerifyJobOptions): JobRunner => ({
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

const COMMAND_LINE = join(import.meta.dirname, '..', 'cli', 'main.ts')

/** Number of problems that the result of a job lists for each check. The command line lists all of them. */
const MAX_PROBLEMS = 100
/** A longer error output of the command is cut. */
const MAX_ERROR_CHARS = 500

const problem = t.strict({ where: t.string, problem: t.string })
const checked = t.strict({
  ok: t.boolean,
  checks: t.readonlyArray(t.strict({ name: t.string, seen: t.string, problems: t.readonlyArray(problem) })),
})

/** Returns the greatest number at the beginning of a text, as progress: 1200 for `3 databases` and `1200 rows`. */
const rowsSeen = (texts: ReadonlyArray<string>): number =>
  Math.max(0, ...texts.map((seen) => Number(/^\d+/.exec(seen)?.[0] ?? 0)))

/** Runs `stenolog check` in a separate process, because it would block the event loop. */
const checkJob = (): JobRunner => ({
  problem: ({ subject }) => (subject === null ? null : 'should be left out, because a check covers all data'),
  run: async (_order, report, signal) => {
    // The child process inherits the settings from the environment.
    const command = [COMMAND_LINE, 'check', '--json']
    const child = spawn(process.execPath, command, { stdio: [inputOfChildren, 'pipe', 'pipe'] })
    const stop = (): void => void child.kill('SIGTERM')
    signal.addEventListener('abort', stop, { once: true })
    report({ detail: 'checking' })
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    signal.removeEventListener('abort', stop)
    const result = checked.decode(parseJson(output))
    if (E.isLeft(result)) return E.left(errors.trim().slice(0, MAX_ERROR_CHARS) || 'the check ended without a result')
    const { ok, checks } = result.right
    const rows = rowsSeen(checks.map(({ seen }) => seen))
    report({ done: rows, total: rows, detail: '' })
    return E.right({
      ok,
      checks: checks.map(({ name, seen, problems }) => ({
        name, seen, found: problems.length, problems: problems.slice(0, MAX_PROBLEMS),
      })),
    })
  },
})

const NAMES = allProjections.map(({ name }) => name)

/** Does the work of `stenolog rebuild`: rebuilds one read model, or all of them one after another. */
export const rebuildJob = ({ rebuild }: Pick<Projector, 'rebuild'>): JobRunner => ({
  problem: ({ subject }) =>
    subject === null || NAMES.includes(subject) ? null : `should be one of ${NAMES.join(', ')}`,
  run: async ({ subject }, report, signal) => {
    const rebuilt: Array<object> = []
    let before = 0
    for (const name of NAMES.filter((candidate) => subject === null || candidate === subject)) {
      // A rebuild that has begun cannot be cancelled, so cancelling stops before the next one.
      if (signal.aborted) return E.left('cancelled')
      const outcome = await rebuild(name, ({ events, share, held }) =>
        report({
          done: before + events,
          total: subject !== null && share !== null && share > 0 ? Math.round(events / share) : null,
          detail: held === null ? name : `${name}: waiting: ${held}`,
        }))
      if (E.isLeft(outcome)) return E.left(`${name}: ${outcome.left}`)
      const { events, resumed, corrected, seconds } = outcome.right
      before += events
      rebuilt.push({ name, events, resumed, corrected, seconds: Math.round(seconds * 1000) / 1000 })
    }
    report({ done: before, total: before, detail: '' })
    return E.right({ read_models: rebuilt })
  },
})

/** Starts the jobs of administrators: pull, verify, check and rebuild. */
export const startJobs = ({ foundation, engines, writeSide, readSide }: Core): Promise<Jobs> => {
  const { settings, logger, stores: { members } } = foundation
  const { rescan, onDisk, folderOf } = engines.files
  const hub = settings.hubUrl === null ? null : new URL(settings.hubUrl)
  const runsModels = engines.own !== null
  const runners = {
    pull: runsModels ? pullJob({ modelsDir: modelsDirOf(settings), hub, rescan }) : null,
    verify: runsModels ? verifyJob({ installed: onDisk, folderOf, rescan }) : null,
    check: checkJob(),
    rebuild: rebuildJob(readSide.projector),
  }
  const opening = { ...writeSide.write, members, isShared: hasServers(settings), logger, runners }
  return runStartStep('read the jobs', () => openJobs(opening))
}
