import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { eventually } from '../tools/eventually.ts'

const CHECKOUT = join(import.meta.dirname, '..', '..', '..')

/** A running service process: its output and its end. */
export interface Launched {
  readonly stdout: () => string
  readonly stderr: () => string
  readonly pid: () => number
  readonly kill: (signal: NodeJS.Signals) => void
  /** The exit code; null when a signal ended the process. */
  readonly exited: Promise<number | null>
  /** Waits until the service listens. */
  readonly url: () => Promise<string>
}

/**
 * Starts the service with PATH, the compile cache and these environment variables only. The process ends with the test.
 * `through`: a command that runs the service, such as a container. `checkout`: the folder of another version.
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
  // 'close' follows the whole output; 'exit' may come earlier.
  let hasEnded = false
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  void exited.then(() => (hasEnded = true))
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
    url: async () => {
      const url = await eventually(() => {
        const found = /listens on (http:\S+)/.exec(stdout)?.[1]
        if (found === undefined && !hasEnded) throw new Error(`the service does not listen: ${stderr}`)
        return found
      }, { timeoutMs: 180_000 })
      if (url === undefined) throw new Error(`the service ended: ${stderr}`)
      return url
    },
  }
}
