import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { JobRunner } from '../../../application/jobs/job.ts'
import { parseJson } from '../../../domain/shared/parse-json.ts'
import { inputOfChildren } from '../../hang-up.ts'

const COMMAND_LINE = join(import.meta.dirname, '..', '..', 'cli', 'main.ts')

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
export const checkJob = (): JobRunner => ({
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
