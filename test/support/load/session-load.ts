import { setTimeout as delay } from 'node:timers/promises'
import type { Client, LiveJson, Single } from '../service/client.ts'

/** The acknowledged commands of one session. Times are values of performance.now(). */
export interface LoadedSession {
  readonly id: number
  /** When its create was sent. */
  readonly begun: number
  /** When its create was answered. */
  readonly created: number
  /** When it was first readable; null: not yet. */
  seen: number | null
  isFinished: boolean
}

export interface SessionLoad {
  readonly sessions: ReadonlyArray<LoadedSession>
  /** The answers of `/health/ready`, in order. */
  readonly readiness: ReadonlyArray<{ readonly at: number; readonly isReady: boolean }>
  /** Statuses other than 200 and 503. */
  readonly surprises: ReadonlyArray<number>
  /** Waits until all requests are answered. Rejects when a request failed. */
  readonly stop: () => Promise<void>
}

const CREATORS = 4

/** Creates, reads and finishes sessions without pause, and polls the readiness, until `stop`. */
export const startSessionLoad = (client: Client): SessionLoad => {
  const stopping = new AbortController()
  const sessions: Array<LoadedSession> = []
  const readiness: Array<{ readonly at: number; readonly isReady: boolean }> = []
  const surprises: Array<number> = []

  const isAcknowledged = async (status: number): Promise<boolean> => {
    if (status === 200) return true
    if (status !== 503) surprises.push(status)
    await delay(50)
    return false
  }
  const create = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const begun = performance.now()
      const created = await client.post<Single<LiveJson>>('/lives', { model: 'demo-en', language: 'en' })
      if (!(await isAcknowledged(created.status))) continue
      const { id } = created.body.data
      const session: LoadedSession = { id, begun, created: performance.now(), seen: null, isFinished: false }
      sessions.push(session)
      while (session.seen === null && !stopping.signal.aborted)
        if ((await client.get(`/lives/${id}`)).status === 200) session.seen = performance.now()
        else await delay(10)
      session.isFinished = await isAcknowledged((await client.put(`/lives/${id}/finish`)).status)
    }
  }
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const { status } = await client.get('/health/ready')
      readiness.push({ at: performance.now(), isReady: status === 200 })
      await delay(100)
    }
  }
  const work = Promise.allSettled([...Array.from({ length: CREATORS }, create), watch()])
  return {
    sessions,
    readiness,
    surprises,
    stop: async () => {
      stopping.abort()
      for (const done of await work) if (done.status === 'rejected') throw done.reason
    },
  }
}
