import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './audio.ts'
import { cpuSecondsOf } from './cpu-time.ts'
import type { Round } from './harness.ts'

/** The service's socket server, or a plain loop over ws. */
export type Side = 'ours' | 'loop'

export type ServerOrder =
  | { readonly kind: 'publish'; readonly frames: number; readonly everyMs: number }
  /** Asks for the number of audio samples that the server has received. */
  | { readonly kind: 'received' }
export type ServerReport =
  | { readonly kind: 'listens'; readonly port: number }
  | { readonly kind: 'published' }
  | { readonly kind: 'received'; readonly samples: number }

export type ClientOrder =
  | { readonly kind: 'open'; readonly port: number; readonly token: string; readonly count: number }
  /** Frames per socket. Every n-th socket is read immediately. */
  | { readonly kind: 'expect'; readonly frames: number; readonly every: number }
  | { readonly kind: 'speak'; readonly frames: number }
export type ClientReport =
  | { readonly kind: 'ready' | 'opened' | 'spoken' | 'drained' }
  /** The sockets that are read immediately have the last frame. `p99`: percentile of their delays, in milliseconds. */
  | { readonly kind: 'delivered'; readonly p99: number }

type Report = ServerReport | ClientReport
type ReportOf<Kind extends Report['kind']> = Extract<Report, { readonly kind: Kind }>

/** Resolves to the next report of this kind. Rejects when the process ends first. */
const report = <Kind extends Report['kind']>(child: ChildProcess, kind: Kind): Promise<ReportOf<Kind>> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`a benchmark process ended with exit code ${code}`))
    const onMessage = (message: Report): void => {
      if (message.kind !== kind) return
      child.off('message', onMessage)
      child.off('exit', onExit)
      resolve(message as ReportOf<Kind>)
    }
    child.on('message', onMessage)
    child.once('exit', onExit)
  })

export interface SocketPair {
  /**
   * Sends frames to all clients. Resolves to the server's CPU time and the p99 delivery time in milliseconds at every
   * `every`-th client. The other clients read at the end, so their work does not count.
   */
  readonly fanOut: (frames: number, everyMs: number, every?: number) => Promise<Round & { readonly p99: number }>
  /** One client sends this number of frames of 100 ms at full speed. Resolves to the server's CPU time. */
  readonly speak: (frames: number) => Promise<Round>
  readonly close: () => void
}

/** Starts one side: a server process, with the code of `checkout`, and a process with `count` clients. */
export const openPair = async (
  side: Side,
  token: 'sender' | 'listener',
  count: number,
  checkout = ROOT,
): Promise<SocketPair> => {
  const server = fork(join(checkout, 'bench/socket-server.ts'), [side])
  const listens = await report(server, 'listens')
  const clients = fork(join(import.meta.dirname, 'socket-clients.ts'))
  await report(clients, 'ready')
  const order = (child: ChildProcess, message: ServerOrder | ClientOrder): void => void child.send(message)

  const opened = report(clients, 'opened')
  order(clients, { kind: 'open', port: listens.port, token, count })
  await opened

  const timed = async (work: number, run: () => Promise<void>): Promise<Round> => {
    const pid = server.pid ?? 0
    const [began, before] = [performance.now(), cpuSecondsOf(pid)]
    await run()
    const [ended, after] = [performance.now(), cpuSecondsOf(pid)]
    return {
      work, seconds: (ended - began) / 1000, cpuSeconds: before === null || after === null ? null : after - before,
    }
  }

  const receivedSamples = async (): Promise<number> => {
    const answer = report(server, 'received')
    order(server, { kind: 'received' })
    return (await answer).samples
  }

  return {
    fanOut: async (frames, everyMs, every = 1) => {
      const ready = report(clients, 'ready')
      order(clients, { kind: 'expect', frames, every })
      await ready
      const drained = report(clients, 'drained')
      let p99 = 0
      const round = await timed(frames * count, async () => {
        const delivered = report(clients, 'delivered')
        order(server, { kind: 'publish', frames, everyMs })
        p99 = (await delivered).p99
      })
      await drained
      return { ...round, p99 }
    },
    speak: async (frames) => {
      const until = (await receivedSamples()) + frames * 1600
      return timed(frames / 10, async () => {
        order(clients, { kind: 'speak', frames })
        await report(clients, 'spoken')
        while ((await receivedSamples()) < until) await new Promise(setImmediate)
      })
    },
    close: () => {
      server.disconnect()
      clients.disconnect()
    },
  }
}
