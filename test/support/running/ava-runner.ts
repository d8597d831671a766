import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface TestResult {
  /** With the path of its file when several files run: `sessions › lives › a session is created`. */
  readonly title: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

const TEST_LINE = /^(ok|not ok) \d+ - (.*?)( # (SKIP|TODO).*)?$/

/** Parses a line of TAP; undefined when it is not a test result. */
const parseResult = (line: string): TestResult | undefined => {
  const [, outcome, title, , directive] = TEST_LINE.exec(line) ?? []
  if (outcome === undefined || title === undefined) return undefined
  if (directive !== undefined) return { title, outcome: 'skipped' }
  return { title, outcome: outcome === 'ok' ? 'passed' : 'failed' }
}

/** Wraps a command in another command, such as `unshare`. */
export type Wrap = (command: ReadonlyArray<string>) => ReadonlyArray<string>

/** The command line of ava, with a fix for its reporter. */
const AVA = [
  'node',
  `--import=${join(import.meta.dirname, 'tap-error-fix.ts')}`,
  join(import.meta.dirname, '..', '..', '..', 'node_modules', 'ava', 'entrypoints', 'cli.mjs'),
]

interface RunOptions {
  readonly cwd?: string
  readonly quiet?: boolean
  readonly wrap?: Wrap
  /** Milliseconds without output after which ava is killed, because a test that leaks something never ends its file. */
  readonly patience?: number
}

/** Runs ava with these arguments. Yields every line of its output, parsed if it is a result. Returns the exit code. */
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
  const silence = patience === undefined ? undefined : setTimeout(() => {
    console.log(`not ok - ava printed nothing for ${patience / 1000} seconds`)
    child.kill('SIGKILL')
  }, patience)
  for await (const line of createInterface({ input: child.stdout })) {
    silence?.refresh()
    yield { line, result: parseResult(line) }
  }
  clearTimeout(silence)
  return await exit
}
