import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { JobRunner } from '../../../application/jobs/job.ts'
import { parseJson } from '../../../domain/shared/parse-json.ts'

const COMMAND_LINE = join(import.meta.dirname, '..', '..', 'cli', 'main.ts')

/** Problems of each check that are told; the command line tells all. */
const MOST_PROBLEMS = 100
/** Of what it said when it could not check. */
const MOST_TEXT = 500

const problem = t.strict({ where: t.string, problem: t.string })
const checked = t.strict({
  ok: t.boolean,
  checks: t.readonlyArray(t.strict({ name: t.string, seen: t.string, problems: t.readonlyArray(problem) })),
})

/** Rows of the log that were looked at, as `hash chain` or `decoding` tell. */
const rowsSeen = (seen: ReadonlyArray<string>): number =>
  Math.max(0, ...seen.map((words) => Number(/^\d+/.exec(words)?.[0] ?? 0)))

/** What `stenolog check` does, by a process of its own: parts of it leave nobody else their turn. */
export const checkJob = (): JobRunner => ({
  problem: ({ subject }) => (subject === null ? null : 'should be left out: a check looks at everything'),
  run: async (_order, report, signal) => {
    // Nothing but its settings, which it has of this process, says where to look.
    const child = spawn(process.execPath, [COMMAND_LINE, 'check', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] })
    const stop = (): void => void child.kill('SIGTERM')
    signal.addEventListener('abort', stop, { once: true })
    report({ detail: 'checking' })
    const [told, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    signal.removeEventListener('abort', stop)
    const result = checked.decode(parseJson(told))
    if (E.isLeft(result)) return E.left(said.trim().slice(0, MOST_TEXT) || 'the check ended without a result')
    const { ok, checks } = result.right
    const rows = rowsSeen(checks.map(({ seen }) => seen))
    report({ done: rows, total: rows, detail: '' })
    return E.right({
      ok,
      checks: checks.map(({ name, seen, problems }) => ({
        name, seen, found: problems.length, problems: problems.slice(0, MOST_PROBLEMS),
      })),
    })
  },
})
