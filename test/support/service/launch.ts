import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { eventually } from '../tools/eventually.ts'

const CHECKOUT = join(import.meta.dirname, '..', '..', '..')

/** The server as a command: what it prints, how it ends. */
export interface Launched {
  readonly stdout: () => string
  readonly stderr: () => string
  readonly pid: () => number
  readonly kill: (signal: NodeJS.Signals) => void
  /** Exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>
  /** Waits until it listens. */
  readonly url: () => Promise<string>
}

/**
 * Starts the server with exactly these variables beside PATH; it ends with the test. `through` is a command that becomes
 * the one that it is given; `checkout` one of another version.
 */
export const launch = (
  t: Pick<ExecutionContext, 'teardown'>,
  environment: Readonly<Record<string, string>>,
  through: ReadonlyArray<string> = [],
  checkout = CHECKOUT,
): Launched => {
  const [command, ...args] = [...through, process.execPath, join(checkout, 'interfaces', 'main.ts')] as const
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...environment },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // 'close' comes after all that it printed.
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    pid: () => child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    exited,
    url: () =>
      eventually(() => {
        const url = /listens on (http:\S+)/.exec(stdout)?.[1]
        if (url === undefined) throw new Error(`does not listen: ${stderr}`)
        return url
      }, { timeoutMs: 60_000 }),
  }
}
