import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { temporaryDirectory } from '../../tools/temporary-directory.ts'
import type { Fault } from './faults.ts'
import type { Options, Order, Report } from './main.ts'

const MAIN = join(import.meta.dirname, 'main.ts')

/** A running double, as a test sees it. */
export interface EventStoreDbDouble {
  /** Connection string for the client. */
  readonly url: string
  readonly port: number
  /** Holds its data. */
  readonly directory: string
  /** Connection string of a further, empty log of the same process. */
  readonly another: () => Promise<string>
  readonly inject: (fault: Fault) => Promise<void>
  /** Breaks every connection. */
  readonly drop: () => Promise<void>
  /** Stops the process in its tracks: connections stay, nothing is answered. */
  readonly freeze: () => void
  readonly thaw: () => void
  readonly kill: () => Promise<void>
  /** Starts it again, after a kill, on the same data and port. */
  readonly start: () => Promise<void>
  /** Kills it and removes its data. */
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
    if (message.kind !== 'listening') throw new Error('the double said something else first')
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
  const ask = async (order: Order): Promise<Report> => {
    const answer = next(running())
    running().send(order)
    return await answer
  }
  const order = async (what: Order): Promise<void> => void (await ask(what))
  const urlOf = (port: number): string => `esdb://127.0.0.1:${port}?tls=${options.tls !== null}`

  const port = await spawn(0)
  return {
    url: urlOf(port),
    port,
    directory: directory.path,
    another: async () => {
      const answer = await ask({ kind: 'another' })
      if (answer.kind !== 'listening') throw new Error('the double serves no other log')
      return urlOf(answer.port)
    },
    inject: (fault) => order({ kind: 'fault', fault }),
    drop: () => order({ kind: 'drop' }),
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
