import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface TestResult {
  /** Folder and file without `test/` and ending, where files of several folders are run: `service › rest-lives › R46: …`. */
  readonly title: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

const TEST_LINE = /^(ok|not ok) \d+ - (.*?)( # (SKIP|TODO).*)?$/

/** A line of TAP as the result that it tells; undefined where it tells none. */
const parseResult = (line: string): TestResult | undefined => {
  const [, outcome, title, , directive] = TEST_LINE.exec(line) ?? []
  if (outcome === undefined || title === undefined) return undefined
  if (directive !== undefined) return { title, outcome: 'skipped' }
  return { title, outcome: outcome === 'ok' ? 'passed' : 'failed' }
}

/** A command as it is spawned. */
export type Wrap = (command: ReadonlyArray<string>) => ReadonlyArray<string>

/** The command line of ava, with what its reporter lacks. */
const AVA = [
  'node',
  `--import=${join(import.meta.dirname, 'tap-error-fix.ts')}`,
  join(import.meta.dirname, '..', '..', '..', 'node_modules', 'ava', 'entrypoints', 'cli.mjs'),
]

interface RunOptions {
  readonly cwd?: string
  readonly quiet?: boolean
  readonly wrap?: Wrap
  /** Milliseconds without a word after which it is ended: a test that left something running keeps its file from ever ending. */
  readonly patience?: number
}

/** Everything that ava says in a run of these arguments: results, and the lines that are none; returns its exit code. */
export async function* runAva(
  args: ReadonlyArray<string>,
  { cwd = process.cwd(), quiet = false, wrap = (command) => command, patience }: RunOptions = {},
): AsyncGenerator<{ readonly line: string; readonly result: TestResult | undefined }, number> {
  const [command = '', ...rest] = wrap([...AVA, '--tap', ...args])
  const child = spawn(command, rest, { cwd, stdio: ['ignore', 'pipe', quiet ? 'ignore' : 'inherit'] })
  const exit = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
  const giveUp = patience === undefined ? undefined : setTimeout(() => {
    console.log(`not ok - ava has said nothing for ${patience / 1000} seconds`)
    child.kill('SIGKILL')
  }, patience)
  for await (const line of createInterface({ input: child.stdout })) {
    giveUp?.refresh()
    yield { line, result: parseResult(line) }
  }
  clearTimeout(giveUp)
  return await exit
}
