import { fork } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { inheritedVariables } from '../../infrastructure/process/inherited-variables.ts'
import { inputOfChildren } from '../hang-up.ts'

/** Environment variables that the service needs besides its settings. */
const INHERITED = ['PATH', 'NODE_COMPILE_CACHE']

/** As in `npm start`: hides Node's warning about type stripping, which the service uses for the console's files. */
const WITHOUT_WARNING = '--disable-warning=ExperimentalWarning'

const SERVER = join(import.meta.dirname, '..', 'main.ts')

export interface ServiceProcess {
  /** Address of the service, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly pid: number
  /** Sends a signal. Resolves to the exit code when the process has ended; null when a signal ended it. */
  readonly end: (signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGKILL') => Promise<number | null>
  /** Resolves to the one-time set-up link when the service prints it. Never resolves when there is no link. */
  readonly setupLink: () => Promise<string>
  /** Returns the log so far. */
  readonly log: () => string
}

/**
 * Starts the service with `settings` (names with their prefix) and waits until it listens. The service drains when this
 * process ends for any reason, because the IPC channel closes. Throws an Error with the log when the start fails.
 */
export const startServiceProcess = async (settings: Readonly<Record<string, string>>): Promise<ServiceProcess> => {
  const child = fork(SERVER, [], {
    stdio: [inputOfChildren, 'pipe', 'pipe', 'ipc'],
    env: { ...inheritedVariables(INHERITED), ...settings },
    // Read at each start, because tests add a probe after the imports.
    execArgv: [...process.execArgv, WITHOUT_WARNING],
  })
  const log: Array<string> = []
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', resolve)
    child.on('error', ({ message }) => {
      log.push(message)
      if (child.pid === undefined) resolve(null)
    })
  })
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
  if (url !== null && child.pid !== undefined)
    return { url, pid: child.pid, end, setupLink: () => link.promise, log: () => log.join('') }
  await exited
  throw new Error(`The service did not start.\n${log.join('').trimEnd()}`)
}
