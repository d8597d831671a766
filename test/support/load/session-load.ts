import { setTimeout as delay } from 'node:timers/promises'
import type { Client, LiveJson, Single } from '../service/client.ts'

/** What the service has acknowledged of one session; times as of performance.now(). */
export interface LoadedSession {
  readonly id: number
  /** When its create was sent, and answered. */
  readonly begun: number
  readonly created: number
  /** When it was first read; null: not yet. */
  seen: number | null
  isFinished: boolean
}

export interface SessionLoad {
  readonly sessions: ReadonlyArray<LoadedSession>
  /** What `/health/ready` said, one look after another. */
  readonly readiness: ReadonlyArray<{ readonly at: number; readonly isReady: boolean }>
  /** Statuses that no store explains: neither 200 nor 503. */
  readonly surprises: ReadonlyArray<number>
  /** Resolves once all is answered; throws what a request threw. */
  readonly stop: () => Promise<void>
}

const CREATORS = 4

/** Creators that begin, read and finish one session after another without pause, and somebody who watches the readiness. */
export const startSessionLoad = (client: Client): SessionLoad => {
  const over = new AbortController()
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
    while (!over.signal.aborted) {
      const begun = performance.now()
      const made = await client.post<Single<LiveJson>>('/lives', { model: 'demo-en', language: 'en' })
      if (!(await isAcknowledged(made.status))) continue
      const { id } = made.body.data
      const session: LoadedSession = { id, begun, created: performance.now(), seen: null, isFinished: false }
      sessions.push(session)
      while (session.seen === null && !over.signal.aborted)
        if ((await client.get(`/lives/${id}`)).status === 200) session.seen = performance.now()
        else await delay(10)
      session.isFinished = await isAcknowledged((await client.put(`/lives/${id}/finish`)).status)
    }
  }
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
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
      over.abort()
      for (const done of await work) if (done.status === 'rejected') throw done.reason
    },
  }
}
