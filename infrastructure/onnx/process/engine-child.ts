import { fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { engineEnvironment } from '../providers/engine-environment.ts'
import type { EngineRole, Reply, Request } from './messages.ts'

/** A running engine process as its client sees it. */
export interface EngineChild {
  readonly pid: number | undefined
  readonly send: (request: Request) => void
  /** Ends it at once, whatever it is doing; `onExit` tells when. */
  readonly stop: () => void
  /** As `stop`, but `onExit` tells `reason` at once: a process that hangs in a driver may take long to end. */
  readonly abandon: (reason: string) => void
}

export interface EngineChildEvents {
  readonly onReply: (reply: Reply) => void
  readonly onErrorLine: (line: string) => void
  /** Once, whether it ran or could not even be started. */
  readonly onExit: (reason: string) => void
}

/** @param gpu id of the only GPU that the process may use; undefined: the first that it finds */
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
  let over = false
  const end = (reason: string): void => {
    if (over) return
    over = true
    events.onExit(reason)
  }
  child.on('message', (reply) => {
    if (!over) events.onReply(reply as Reply)
  })
  child.on('exit', (code, signal) => end(signal ?? `exit code ${code}`))
  child.on('error', (error) => {
    // Also a message that could not be delivered to a process that is ending: its exit follows.
    if (child.pid === undefined) end(error.message)
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
      end(reason)
    },
  }
}
