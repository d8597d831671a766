import { AsyncLocalStorage } from 'node:async_hooks'

const requests = new AsyncLocalStorage<string>()

/** Runs `task` with the id of a request. Asynchronous work that the task starts sees the same id. */
export const inRequest = <A>(correlationId: string, task: () => A): A => requests.run(correlationId, task)

export const currentCorrelationId = (): string | null => requests.getStore() ?? null
