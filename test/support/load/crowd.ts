import { fork } from 'node:child_process'
import { join } from 'node:path'

/** The task of the process with the listeners. */
export interface CrowdOrder {
  readonly port: number
  /** The path of the socket, with a token. */
  readonly path: string
  /** The number of listeners. */
  readonly count: number
  /** The number of finals. After the restart each listener requests the finals after a smaller number. */
  readonly finals: number
}

/** A listener after a restart. */
export interface Returned {
  /** The number of the segment after which it requested the finals. */
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
  | { readonly kind: 'connected' }
  /** `codes`: the codes of the first closes. */
  | { readonly kind: 'returned'; readonly codes: ReadonlyArray<number>; readonly listeners: ReadonlyArray<Returned> }

export interface Crowd {
  /** Resolves when all listeners were closed, have reconnected, and were closed again. */
  readonly returned: Promise<Extract<CrowdReport, { readonly kind: 'returned' }>>
  readonly dispose: () => void
}

/** Starts listeners in a separate process and waits until all are connected. */
export const gatherCrowd = async (order: CrowdOrder): Promise<Crowd> => {
  const child = fork(join(import.meta.dirname, 'crowd-process.ts'), { execArgv: [] })
  const allConnected = Promise.withResolvers<void>()
  const returned = Promise.withResolvers<Extract<CrowdReport, { readonly kind: 'returned' }>>()
  returned.promise.catch(() => undefined)
  child.on('message', (report: CrowdReport) => {
    if (report.kind === 'connected') allConnected.resolve()
    else returned.resolve(report)
  })
  child.once('exit', (code) => {
    const ended = new Error(`the listeners' process ended with ${code}`)
    allConnected.reject(ended)
    returned.reject(ended)
  })
  child.send(order)
  await allConnected.promise
  return { returned: returned.promise, dispose: () => child.disconnect() }
}
