import { fork } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { createEmptyDirectory, type EmptyDirectory } from '../../files/empty-directory.ts'
import { engineEnvironment } from '../providers/engine-environment.ts'
import type { EngineRole, Reply, Request } from './messages.ts'

export interface EngineChild {
  readonly pid: number | undefined
  readonly send: (request: Request) => void
  /** Kills the process. `onExit` is called when it has ended. */
  readonly stop: () => void
  /** Kills the process and calls `onExit` at once, because a process that hangs in a driver may end late. */
  readonly abandon: (reason: string) => void
}

export interface EngineChildEvents {
  readonly onReply: (reply: Reply) => void
  readonly onErrorLine: (line: string) => void
  /** Called once, also when the process could not be started. */
  readonly onExit: (reason: string) => void
}

/** Returns the function that finds the absolute folder of a model for a request; null for an unknown model. */
export const folderIn =
  (models: ReadonlyMap<string, string>) =>
  (model: string): string | null => {
    const folder = models.get(model)
    return folder === undefined ? null : resolve(folder)
  }

const createDirectory = (): E.Either<string, EmptyDirectory> =>
  E.tryCatch(createEmptyDirectory, (error) => `its directory cannot be created: ${messageOf(error)}`)

/** A process that could not be started. */
const NO_CHILD: EngineChild =
  { pid: undefined, send: () => undefined, stop: () => undefined, abandon: () => undefined }

/**
 * Starts an engine process in an empty directory of its own, so a model that makes a library open a file by a relative
 * path finds nothing. Folders in requests must be absolute.
 *
 * @param gpu UUID of the only GPU that the process may use; undefined: the first usable GPU
 */
export const startEngineChild = (
  role: EngineRole,
  execArgv: ReadonlyArray<string>,
  events: EngineChildEvents,
  gpu?: string,
): EngineChild => {
  const directory = createDirectory()
  if (E.isLeft(directory)) {
    setImmediate(() => events.onExit(directory.left))
    return NO_CHILD
  }
  const path = fileURLToPath(new URL('./engine-process.ts', import.meta.url))
  const child = fork(path, [role, ...(gpu === undefined ? [] : [gpu])], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [...execArgv],
    env: engineEnvironment(gpu),
    cwd: directory.right.path,
  })
  let hasEnded = false
  const reportExit = (reason: string): void => {
    if (hasEnded) return
    hasEnded = true
    events.onExit(reason)
  }
  child.on('message', (reply) => {
    if (!hasEnded) events.onReply(reply as Reply)
  })
  child.on('exit', (code, signal) => {
    directory.right.remove()
    reportExit(signal ?? `exit code ${code}`)
  })
  child.on('error', (error) => {
    // A message to an ending process also fails, but then `exit` follows.
    if (child.pid !== undefined) return
    directory.right.remove()
    reportExit(error.message)
  })
  if (child.stderr !== null) createInterface({ input: child.stderr }).on('line', events.onErrorLine)
  return {
    pid: child.pid,
    send: (request) => {
      if (child.connected) child.send(request)
    },
    stop: () => {
      child.kill('SIGKILL')
    },
    abandon: (reason) => {
      child.kill('SIGKILL')
      reportExit(reason)
    },
  }
}
