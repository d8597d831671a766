import { fork } from 'node:child_process'
import { join } from 'node:path'

/** So many listeners that later know some of the finals 1 to `known`. */
export interface CrowdOrder {
  readonly port: number
  /** With a token. */
  readonly path: string
  readonly count: number
  readonly known: number
}

/** A listener after a restart. */
export interface Returned {
  /** The last segment that it said it knew. */
  readonly after: number
  /** Handshakes that were not answered with 101. */
  readonly refused: number
  /** Of its last close, and the frames until then, a line each. */
  readonly code: number
  readonly text: string
  /** From its first try, and from its close, until it was back. */
  readonly tookMs: number
  readonly backMs: number
}

export type CrowdReport =
  | { readonly kind: 'there' }
  /** `codes` are those of the first closes. */
  | { readonly kind: 'returned'; readonly codes: ReadonlyArray<number>; readonly listeners: ReadonlyArray<Returned> }

export interface Crowd {
  /** All are closed, have come back, and have been closed again. */
  readonly returned: Promise<Extract<CrowdReport, { readonly kind: 'returned' }>>
  readonly dispose: () => void
}

/** Listeners in a process of their own, once all of them are there. */
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
