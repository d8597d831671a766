import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { temporaryDirectory } from '../temporary-directory.ts'
import type { Control, Fault, State } from './faults.ts'

const MAIN = join(import.meta.dirname, 'main.ts')

/** The double as a process of its own, on a file that outlives its kills. */
export interface MongoDouble {
  /** Connection string with a database of this name. */
  readonly url: (database: string) => string
  /** Resolves once the fault is in force. */
  readonly inject: (fault: Fault) => Promise<void>
  /** No fault is left. */
  readonly heal: () => Promise<void>
  /** The primary goes on without any other member: nothing new is a majority's. */
  readonly cutOff: () => Promise<void>
  /** The secondary stays behind what a majority has. */
  readonly lag: () => Promise<void>
  /** All members have all that the primary has. */
  readonly catchUp: () => Promise<void>
  /** All members have what they had at the cut: what the primary alone has acknowledged since is gone. */
  readonly rollBack: () => Promise<void>
  readonly state: () => Promise<State>
  readonly kill: () => Promise<void>
  /** Starts it again, on the same port and data. */
  readonly start: () => Promise<void>
  /** Holds its data. */
  readonly directory: string
  readonly freeze: () => void
  readonly thaw: () => void
  /** Ends it and removes its data. */
  readonly dispose: () => Promise<void>
}

/** What a client of the tests needs so that the double takes its writes. */
export const DURABLE = { writeConcern: { w: 'majority', journal: true } } as const

interface DoubleOptions {
  /** Names the set of which it is a primary and a secondary; none: a standalone server. */
  readonly replicaSet?: string
  /** Also takes writes that a primary acknowledges alone, or without its journal. */
  readonly isLenient?: boolean
}

export const startMongoDouble = async ({ replicaSet = '', isLenient = false }: DoubleOptions = {}): Promise<MongoDouble> => {
  const directory = await temporaryDirectory()
  let ports: ReadonlyArray<number> = [0, 0]
  const launch = async (): Promise<ChildProcess> => {
    const settings = [join(directory.path, 'data'), replicaSet, isLenient ? 'lenient' : 'strict', ...ports.map(String)]
    const child = fork(MAIN, settings, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const [ready] = (await once(child, 'message')) as [{ readonly ports: ReadonlyArray<number> }]
    ports = ready.ports
    return child
  }
  let child = await launch()
  const ask = async (message: Control): Promise<State> => {
    const done = once(child, 'message')
    child.send(message)
    const [state] = (await done) as [State]
    return state
  }
  const tell = async (message: Control): Promise<void> => {
    await ask(message)
  }
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  return {
    url: (database) => `mongodb://127.0.0.1:${ports[0]}/${database}${replicaSet === '' ? '' : `?replicaSet=${replicaSet}`}`,
    directory: directory.path,
    inject: tell,
    heal: () => tell('heal'),
    cutOff: () => tell('cut-off'),
    lag: () => tell('lag'),
    catchUp: () => tell('catch-up'),
    rollBack: () => tell('roll-back'),
    state: () => ask('count'),
    kill,
    start: async () => {
      child = await launch()
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    dispose: async () => {
      await kill()
      await directory.remove()
    },
  }
}
