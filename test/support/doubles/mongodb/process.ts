import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { temporaryDirectory } from '../../tools/temporary-directory.ts'
import type { Control, ControlAnswer, ControlRequest, Fault, Line, State, Turn } from './faults.ts'

const MAIN = join(import.meta.dirname, 'main.ts')
const MEMBERS = [0, 1, 2]

/** Addresses of the members for one client, such as one process of the service. */
export interface Door {
  readonly url: (database: string) => string
  /** Sets the state of the network between the client and members (default: all). */
  readonly line: (line: Line, members?: ReadonlyArray<number>) => Promise<void>
}

/** The double in a separate process. Its data outlives its kills. */
export interface MongoDouble {
  /** The connection string with a database of this name. */
  readonly url: (database: string) => string
  /** Returns the door of this name. Creates it if it does not exist. */
  readonly door: (name: string) => Promise<Door>
  /** Injects a fault. Resolves when the fault is active. */
  readonly inject: (fault: Fault) => Promise<void>
  /** Removes all faults. */
  readonly heal: () => Promise<void>
  /** Cuts the primary off from the other members, so its new writes have no majority. */
  readonly cutOff: () => Promise<void>
  /** Stops the replication to readable secondaries. */
  readonly lag: () => Promise<void>
  /** Replicates all writes of the primary to all members. */
  readonly catchUp: () => Promise<void>
  /** Undoes all writes of the primary after the cut. */
  readonly rollBack: () => Promise<void>
  /** Changes the replica set: elections, frozen and stopped members, clocks. */
  readonly turn: (turn: Turn) => Promise<State>
  readonly state: () => Promise<State>
  readonly kill: () => Promise<void>
  /** Starts the double again on the same ports and data, without its doors. */
  readonly start: () => Promise<void>
  /** The directory of its data. */
  readonly directory: string
  readonly freeze: () => void
  readonly thaw: () => void
  /** Ends the double and deletes its data. */
  readonly dispose: () => Promise<void>
}

/** The options of a client whose writes the double performs. */
export const DURABLE = { writeConcern: { w: 'majority', journal: true } } as const

interface DoubleOptions {
  /** The name of a replica set of three members. Default: a standalone server. */
  readonly replicaSet?: string
  /** The double also performs writes without majority or journal. */
  readonly isLenient?: boolean
  /** The updates of the double are not atomic: it reads a document, and writes it later without the filter. */
  readonly isSplit?: boolean
}

/** Starts a double with an empty database. */
export const startMongoDouble = async (options: DoubleOptions = {}): Promise<MongoDouble> => {
  const { replicaSet = '', isLenient = false, isSplit = false } = options
  const directory = await temporaryDirectory()
  let ports: ReadonlyArray<number> = MEMBERS.map(() => 0)
  let requests = 0
  const launch = async (): Promise<ChildProcess> => {
    const modes = [isLenient ? 'lenient' : 'strict', isSplit ? 'split' : 'whole']
    const settings = [join(directory.path, 'data'), replicaSet, ...modes, ...ports.map(String)]
    const child = fork(MAIN, settings, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const [ready] = (await once(child, 'message')) as [{ readonly ports: ReadonlyArray<number> }]
    ports = ready.ports
    child.setMaxListeners(0)
    return child
  }
  let child = await launch()
  const request = (control: Control): Promise<ControlAnswer> => {
    const id = ++requests
    const { promise, resolve } = Promise.withResolvers<ControlAnswer>()
    const receive = (answer: ControlAnswer): void => {
      if (answer.id !== id) return
      child.off('message', receive)
      resolve(answer)
    }
    child.on('message', receive)
    child.send({ id, control } satisfies ControlRequest)
    return promise
  }
  const command = async (control: Control): Promise<void> => void (await request(control))
  const query = replicaSet === '' ? '' : `?replicaSet=${replicaSet}`
  const urlAt =
    (memberPorts: ReadonlyArray<number>) =>
    (database: string): string =>
      `mongodb://${memberPorts.map((port) => `127.0.0.1:${port}`).join(',')}/${database}${query}`
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  return {
    url: (database) => urlAt(ports)(database),
    door: async (name) => ({
      url: urlAt((await request({ door: name })).ports),
      line: (line, members = MEMBERS) => command({ door: name, line, members }),
    }),
    directory: directory.path,
    inject: command,
    heal: () => command('heal'),
    cutOff: () => command('cut-off'),
    lag: () => command('lag'),
    catchUp: () => command('catch-up'),
    rollBack: () => command('roll-back'),
    turn: async (turn) => (await request(turn)).state,
    state: async () => (await request('count')).state,
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
