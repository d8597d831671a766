import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { temporaryDirectory } from '../../tools/temporary-directory.ts'
import type { Fault } from './faults.ts'
import type { Options, Order, Report } from './main.ts'

const MAIN = join(import.meta.dirname, 'main.ts')

/** A running double. */
export interface EventStoreDbDouble {
  /** The connection string. */
  readonly url: string
  readonly port: number
  /** The directory of its data. */
  readonly directory: string
  /** Serves another, empty log. Returns its connection string. */
  readonly startEmptyLog: () => Promise<string>
  readonly inject: (fault: Fault) => Promise<void>
  /** Breaks all connections. */
  readonly drop: () => Promise<void>
  /** Stops the process with SIGSTOP: connections stay open, nothing is answered. */
  readonly freeze: () => void
  readonly thaw: () => void
  readonly kill: () => Promise<void>
  /** Starts the double again after a kill, on the same data and port. */
  readonly start: () => Promise<void>
  /** Kills the double and deletes its data. */
  readonly dispose: () => Promise<void>
}

/** Starts a double on a free port with an empty log. */
export const startDouble = async (
  settings: Partial<Pick<Options, 'tls' | 'account'>> = {},
): Promise<EventStoreDbDouble> => {
  const directory = await temporaryDirectory()
  const options = { file: join(directory.path, 'log'), tls: settings.tls ?? null, account: settings.account ?? null }
  let child: ChildProcess | null = null

  const next = async (process: ChildProcess): Promise<Report> => {
    const settled = new AbortController()
    const ended = once(process, 'exit', settled).then(
      () => Promise.reject(new Error('the double ended')),
      () => new Promise<never>(() => undefined),
    )
    try {
      const [message] = (await Promise.race([once(process, 'message', settled), ended])) as [Report]
      return message
    } finally {
      settled.abort()
    }
  }
  const spawn = async (port: number): Promise<number> => {
    child = fork(MAIN, [JSON.stringify({ ...options, port } satisfies Options)], { stdio: 'inherit' })
    const message = await next(child)
    if (message.kind !== 'listening') throw new Error(`the double reported ${message.kind} instead of its port`)
    return message.port
  }
  const running = (): ChildProcess => {
    if (child === null) throw new Error('the double does not run')
    return child
  }
  const kill = async (): Promise<void> => {
    const process = child
    child = null
    if (process === null || process.exitCode !== null) return
    const ended = once(process, 'exit')
    process.kill('SIGKILL')
    await ended
  }
  const request = async (order: Order): Promise<Report> => {
    const answer = next(running())
    running().send(order)
    return await answer
  }
  const command = async (order: Order): Promise<void> => void (await request(order))
  const urlOf = (port: number): string => `esdb://127.0.0.1:${port}?tls=${options.tls !== null}`

  const port = await spawn(0)
  return {
    url: urlOf(port),
    port,
    directory: directory.path,
    startEmptyLog: async () => {
      const answer = await request({ kind: 'another' })
      if (answer.kind !== 'listening') throw new Error('the double does not serve another log')
      return urlOf(answer.port)
    },
    inject: (fault) => command({ kind: 'fault', fault }),
    drop: () => command({ kind: 'drop' }),
    freeze: () => void running().kill('SIGSTOP'),
    thaw: () => void running().kill('SIGCONT'),
    kill,
    start: async () => {
      await spawn(port)
    },
    dispose: async () => {
      await kill()
      await directory.remove()
    },
  }
}
