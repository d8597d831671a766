import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'

/** Runs a task as soon as a slot is free. */
export type Slots = <A>(task: () => Promise<A>) => Promise<A>

/** Runs at most `count` tasks at a time. Further tasks wait in order. */
export const createSlots = (count: number): Slots => {
  const waiting: Array<() => void> = []
  let free = count
  const take = (): Promise<void> | undefined => {
    if (free === 0) return new Promise((resolve) => { waiting.push(resolve) })
    free -= 1
    return undefined
  }
  const release = (): void => {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }
  return async (task) => {
    await take()
    try {
      return await task()
    } finally {
      release()
    }
  }
}

/** Runs a task in the client's turn. Null: too many tasks of this client wait already. */
export type FairSlots = <A>(client: string, task: () => Promise<A>) => Promise<A | null>

/**
 * Runs at most `count` tasks at a time, and one for each client. Clients with waiting tasks take turns, so many tasks
 * of one client delay only this client. At most `maxWaiting` tasks of a client wait.
 */
export const createFairSlots = (count: number, maxWaiting: number): FairSlots => {
  /** Waiting tasks by client. The client whose turn comes next is first. */
  const waiting = new Map<string, ReadonlyArray<() => void>>()
  const running = new Set<string>()

  const startNext = (): void => {
    const next = [...waiting.keys()].find((client) => !running.has(client))
    if (running.size === count || next === undefined) return
    const [start, ...later] = waiting.get(next) ?? []
    waiting.delete(next)
    if (later.length > 0) waiting.set(next, later)
    running.add(next)
    start?.()
    startNext()
  }

  return async (client, task) => {
    const before = waiting.get(client) ?? []
    if (before.length >= maxWaiting) return null
    await new Promise<void>((start) => {
      waiting.set(client, [...before, start])
      startNext()
    })
    try {
      return await task()
    } finally {
      running.delete(client)
      startNext()
    }
  }
}

/**
 * Runs one task for each item, at most `count` at a time. Returns the results in the order of the items. Rejects with
 * the first rejection, after all tasks have ended.
 */
export const mapConcurrently = async <A, B>(
  count: number,
  items: Iterable<A>,
  task: (item: A) => Promise<B>,
): Promise<ReadonlyArray<B>> => {
  const settled: Array<PromiseSettledResult<B>> = []
  // All loops take their items from one iterator, so no item waits in a queue.
  const entries = Array.from(items).entries()
  const runInTurn = async (): Promise<void> => {
    for (const [index, item] of entries) {
      const [result] = await Promise.allSettled([task(item)])
      settled[index] = result
    }
  }
  await Promise.all(Array.from({ length: count }, runInTurn))
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

/**
 * Runs one task for each item, at most `count` at a time. After a left value no further task begins. Returns the first
 * left value in the order of the items, or all results.
 */
export const traverseConcurrently = async <A, L, B>(
  count: number,
  items: Iterable<A>,
  task: (item: A) => Promise<Either<L, B>>,
): Promise<Either<L, ReadonlyArray<B>>> => {
  let failure: Either<L, B> | null = null
  const results = await mapConcurrently(count, items, async (item) => {
    if (failure !== null) return failure
    const result = await task(item)
    if (E.isLeft(result)) failure ??= result
    return result
  })
  return E.sequenceArray(results)
}

/** Rows that a request reads, opens or encodes without a pause. */
export const ROWS_AT_ONCE = 100

/** Maximum number of sessions that one task ends at the same time: they finish transcribing, and share one engine. */
export const ENDS_AT_ONCE = 32

/** Lets the event loop handle what has arrived in the meantime. */
export const yieldToOthers = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve) })

/** Maps rows in slices. Between two slices, the event loop handles other requests. */
export const mapInSlices = async <A, B>(rows: ReadonlyArray<A>, map: (row: A) => B): Promise<ReadonlyArray<B>> => {
  const mapped: Array<B> = []
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    if (from > 0) await yieldToOthers()
    mapped.push(...rows.slice(from, from + ROWS_AT_ONCE).map((row) => map(row)))
  }
  return mapped
}
