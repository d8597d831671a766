import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { temporaryDirectory } from '../temporary-directory.ts'
import type { Fault } from './faults.ts'

const MAIN = join(import.meta.dirname, 'main.ts')

/** The double as a process of its own, on a file that outlives its kills. */
export interface MongoDouble {
  /** Connection string with a database of this name. */
  readonly url: (database: string) => string
  /** Resolves once the fault is in force. */
  readonly inject: (fault: Fault) => Promise<void>
  /** No fault is left. */
  readonly heal: () => Promise<void>
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

/** Starts a double, a replica set of one member when `replicaSet` names it. */
export const startMongoDouble = async ({ replicaSet = '' }: { readonly replicaSet?: string } = {}): Promise<MongoDouble> => {
  const directory = await temporaryDirectory()
  let port = 0
  const launch = async (): Promise<ChildProcess> => {
    const child = fork(MAIN, [join(directory.path, 'data'), String(port), replicaSet], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const [ready] = (await once(child, 'message')) as [{ readonly port: number }]
    port = ready.port
    return child
  }
  let child = await launch()
  const tell = async (message: Fault | 'heal'): Promise<void> => {
    const done = once(child, 'message')
    child.send(message)
    await done
  }
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  return {
    url: (database) => `mongodb://127.0.0.1:${port}/${database}${replicaSet === '' ? '' : `?replicaSet=${replicaSet}`}`,
    directory: directory.path,
    inject: tell,
    heal: () => tell('heal'),
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
