import { randomUUID } from 'node:crypto'

/** Runs a task in the course of a request, whose correlation id the events that it causes get. */
export type InRequest = <A>(correlationId: string, task: () => A) => A

/** Without a log of events: in tests of one layer. */
export const inNoRequest: InRequest = (_correlationId, task) => task()

/** The id of a request: the X-Request-ID that was sent if it is a plain one, else a new one. */
export const requestIdOf = (sent: string | ReadonlyArray<string> | undefined): string =>
  typeof sent === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(sent) ? sent : randomUUID()

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** For events, which are kept for good: a client's own text, which may say anything, does not get there. */
export const correlationIdOf = (requestId: string): string => (UUID.test(requestId) ? requestId : randomUUID())
