import { fork } from 'node:child_process'
import { join } from 'node:path'

/** The task of the process with the listeners. */
export interface CrowdOrder {
  readonly port: number
  /** The path of the socket, with a token. */
  readonly path: string
  /** The number of listeners. */
  readonly count: number
  /** After the restart each listener claims to know the finals up to a number below this one. */
  readonly known: number
}

/** A listener after a restart. */
export interface Returned {
  /** The last segment that it claimed to know. */
  readonly after: number
  /** The number of handshakes that were refused. */
  readonly refused: number
  /** The code of its last close. */
  readonly code: number
  /** The frames until the last close, one per line. */
  readonly text: string
  /** Time from its first attempt to reconnect until it was connected. */
  readonly tookMs: number
  /** Time from its close until it was connected. */
  readonly backMs: number
}

export type CrowdReport =
  | { readonly kind: 'there' }
  /** `codes` are those of the first closes. */
  | { readonly kind: 'returned'; readonly codes: ReadonlyArray<number>; readonly listeners: ReadonlyArray<Returned> }

export interface Crowd {
  /** Resolves when all listeners were closed, have reconnected, and were closed again. */
  readonly returned: Promise<Extract<CrowdReport, { readonly kind: 'returned' }>>
  readonly dispose: () => void
}

/** Starts listeners in a separate process and waits until all are connected. */
export const gatherCrowd = async (order: CrowdOrder): Promise<Crowd> => {
  const child = fork(join(import.meta.dirname, 'crowd-process.ts'), { execArgv: [] })
  const there = Promise.withResolvers<void>()
  const returned = Promise.withResolvers<Extract<CrowdReport, { readonly kind: 'returned' }>>()
  returned.promise.catch(() => undefined)
  child.on('message', (report: CrowdReport) => (report.kind === 'there' ? there.resolve() : returned.resolve(report)))
  child.once('exit', (code) => {
    const ended = new Error(`the listeners' process ended with ${code}`)
    there.reject(ended)
    returned.reject(ended)
  })
  child.send(order)
  await there.promise
  return { returned: returned.promise, dispose: () => child.disconnect() }
}
