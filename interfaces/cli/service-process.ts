import { fork } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { inheritedVariables } from '../../infrastructure/node/inherited-variables.ts'

/** What it gets of our environment besides its settings: where commands are, and what Node has compiled before. */
const INHERITED = ['PATH', 'NODE_COMPILE_CACHE']

/** As `npm start` starts it: Node warns of what takes the types off the console’s files. */
const QUIETLY = [...process.execArgv, '--disable-warning=ExperimentalWarning']

const SERVER = join(import.meta.dirname, '..', 'main.ts')

/** The service as a child process. */
export interface ServiceProcess {
  /** `http://127.0.0.1:port` */
  readonly url: string
  readonly pid: number
  /** Sends a signal and resolves to the exit code (null when a signal ended it) once the process is gone. */
  readonly end: (signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL') => Promise<number | null>
  /** The one-time link of the first admin, once it is printed; waits for ever where there is none. */
  readonly setupLink: () => Promise<string>
  /** What it has written to its log so far. */
  readonly log: () => string
}

/**
 * Starts the service with `settings` (names with their prefix) and waits until it listens. It drains when this process
 * ends, however that ends: its channel closes. Throws an Error with its log when it does not start.
 */
export const startServiceProcess = async (settings: Readonly<Record<string, string>>): Promise<ServiceProcess> => {
  const child = fork(SERVER, [], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...inheritedVariables(INHERITED), ...settings },
    execArgv: QUIETLY,
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const log: Array<string> = []
  child.stderr?.setEncoding('utf8').on('data', (text: string) => log.push(text))
  const end: ServiceProcess['end'] = (signal) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return exited
  }
  const link = Promise.withResolvers<string>()
  const url = await new Promise<string | null>((resolve) => {
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [, listening] = /listens on (http:\S+)/.exec(line) ?? []
        const [, setup] = /(https?:\S+\/setup#\S+)/.exec(line) ?? []
        if (listening !== undefined) resolve(listening)
        if (setup !== undefined) link.resolve(setup)
      })
    void exited.then(() => resolve(null))
  })
  if (url !== null && child.pid !== undefined) return { url, pid: child.pid, end, setupLink: () => link.promise, log: () => log.join('') }
  await exited
  throw new Error(`The service did not start.\n${log.join('').trimEnd()}`)
}
