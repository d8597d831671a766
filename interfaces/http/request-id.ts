import { randomUUID } from 'node:crypto'

/** Runs a task as part of a request. The events that the task appends get this correlation id. */
export type InRequest = <A>(correlationId: string, task: () => A) => A

/** Runs a task without a correlation id, for tests that have no event log. */
export const inNoRequest: InRequest = (_correlationId, task) => task()

/** Returns the X-Request-ID of a request if it is well formed, otherwise a new id. */
export const requestIdOf = (sent: string | ReadonlyArray<string> | undefined): string =>
  typeof sent === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(sent) ? sent : randomUUID()

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the id that events store. Events are permanent, so a request id is only stored if it is a UUID. */
export const correlationIdOf = (requestId: string): string => (UUID.test(requestId) ? requestId : randomUUID())
