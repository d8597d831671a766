import { fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { engineEnvironment } from '../providers/engine-environment.ts'
import type { EngineRole, Reply, Request } from './messages.ts'

/** A running engine process, as its client sees it. */
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

/**
 * Starts an engine process.
 *
 * @param gpu UUID of the only GPU that the process may use; undefined: the first usable GPU
 */
export const startEngineChild = (
  role: EngineRole,
  execArgv: ReadonlyArray<string>,
  events: EngineChildEvents,
  gpu?: string,
): EngineChild => {
  const path = fileURLToPath(new URL('./engine-process.ts', import.meta.url))
  const child = fork(path, [role, ...(gpu === undefined ? [] : [gpu])], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [...execArgv],
    env: engineEnvironment(gpu),
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
  child.on('exit', (code, signal) => reportExit(signal ?? `exit code ${code}`))
  child.on('error', (error) => {
    // A message to an ending process also fails, but then `exit` follows.
    if (child.pid === undefined) reportExit(error.message)
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
