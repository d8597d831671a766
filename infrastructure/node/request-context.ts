import { AsyncLocalStorage } from 'node:async_hooks'

const requests = new AsyncLocalStorage<string>()

/** Runs `task` in the course of a request: whatever it starts, and waits for, is its consequence. */
export const inRequest = <A>(correlationId: string, task: () => A): A => requests.run(correlationId, task)

/** Of the request in whose course the caller runs, null outside of any. */
export const currentCorrelationId = (): string | null => requests.getStore() ?? null
