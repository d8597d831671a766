import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { temporaryDirectory } from '../../tools/temporary-directory.ts'
import type { Answered, Control, Fault, Line, State, Told, Turn } from './faults.ts'

const MAIN = join(import.meta.dirname, 'main.ts')
const MEMBERS = [0, 1, 2]

/** Addresses of the members for one client alone, a whole process of the service for example. */
export interface Door {
  readonly url: (database: string) => string
  /** What is between the client and these members, or all. */
  readonly line: (line: Line, members?: ReadonlyArray<number>) => Promise<void>
}

/** The double as a process of its own, on a file that outlives its kills. */
export interface MongoDouble {
  /** Connection string with a database of this name. */
  readonly url: (database: string) => string
  /** Made where the name is new. */
  readonly door: (name: string) => Promise<Door>
  /** Resolves once the fault is in force. */
  readonly inject: (fault: Fault) => Promise<void>
  /** No fault is left. */
  readonly heal: () => Promise<void>
  /** The primary goes on without any other member: nothing new is a majority's. */
  readonly cutOff: () => Promise<void>
  /** The secondaries stay behind what a majority has. */
  readonly lag: () => Promise<void>
  /** All members have all that the primary has. */
  readonly catchUp: () => Promise<void>
  /** All members have what they had at the cut: what the primary alone has acknowledged since is gone. */
  readonly rollBack: () => Promise<void>
  /** What befalls the replica set: elections, members that freeze, stop, or go by another clock. */
  readonly turn: (turn: Turn) => Promise<State>
  readonly state: () => Promise<State>
  readonly kill: () => Promise<void>
  /** Starts it again, on the same ports and data. Doors are gone. */
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
  /** Names the set, which has three members; none: a standalone server. */
  readonly replicaSet?: string
  /** Also takes writes that a primary acknowledges alone, or without its journal. */
  readonly isLenient?: boolean
}

export const startMongoDouble = async (options: DoubleOptions = {}): Promise<MongoDouble> => {
  const { replicaSet = '', isLenient = false } = options
  const directory = await temporaryDirectory()
  let ports: ReadonlyArray<number> = MEMBERS.map(() => 0)
  let asked = 0
  const launch = async (): Promise<ChildProcess> => {
    const settings = [join(directory.path, 'data'), replicaSet, isLenient ? 'lenient' : 'strict', ...ports.map(String)]
    const child = fork(MAIN, settings, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const [ready] = (await once(child, 'message')) as [{ readonly ports: ReadonlyArray<number> }]
    ports = ready.ports
    child.setMaxListeners(0)
    return child
  }
  let child = await launch()
  const ask = (control: Control): Promise<Answered> => {
    const id = ++asked
    const { promise, resolve } = Promise.withResolvers<Answered>()
    const hear = (answered: Answered): void => {
      if (answered.id !== id) return
      child.off('message', hear)
      resolve(answered)
    }
    child.on('message', hear)
    child.send({ id, control } satisfies Told)
    return promise
  }
  const tell = async (control: Control): Promise<void> => {
    await ask(control)
  }
  const query = replicaSet === '' ? '' : `?replicaSet=${replicaSet}`
  const urlAt =
    (at: ReadonlyArray<number>) =>
    (database: string): string =>
      `mongodb://${at.map((port) => `127.0.0.1:${port}`).join(',')}/${database}${query}`
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  return {
    url: (database) => urlAt(ports)(database),
    door: async (name) => ({
      url: urlAt((await ask({ door: name })).ports),
      line: (line, members = MEMBERS) => tell({ door: name, line, members }),
    }),
    directory: directory.path,
    inject: tell,
    heal: () => tell('heal'),
    cutOff: () => tell('cut-off'),
    lag: () => tell('lag'),
    catchUp: () => tell('catch-up'),
    rollBack: () => tell('roll-back'),
    turn: async (turn) => (await ask(turn)).state,
    state: async () => (await ask('count')).state,
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
