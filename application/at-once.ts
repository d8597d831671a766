import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'

/** Runs a task as soon as one of its places is free. */
export type Slots = <A>(task: () => Promise<A>) => Promise<A>

/** So many tasks at a time; the others wait in the order in which they came. */
export const createSlots = (count: number): Slots => {
  const waiting: Array<() => void> = []
  let free = count
  const take = (): Promise<void> | undefined => {
    if (free === 0) return new Promise((resolve) => { waiting.push(resolve) })
    free -= 1
    return undefined
  }
  const give = (): void => {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }
  return async (task) => {
    await take()
    try {
      return await task()
    } finally {
      give()
    }
  }
}

/**
 * One task an item, `count` at a time; the results in the order of the items. Rejects, once all are over, with the
 * first defect.
 */
export const mapAtOnce = async <A, B>(
  count: number,
  items: Iterable<A>,
  task: (item: A) => Promise<B>,
): Promise<ReadonlyArray<B>> => {
  const inSlot = createSlots(count)
  const settled = await Promise.allSettled(Array.from(items, (item) => inSlot(() => task(item))))
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/**
 * The same for tasks that can fail: after the first failure none begins, and the answer is the first failure in the
 * order of the items.
 */
export const traverseAtOnce = async <A, L, B>(
  count: number,
  items: Iterable<A>,
  task: (item: A) => Promise<Either<L, B>>,
): Promise<Either<L, ReadonlyArray<B>>> => {
  let failure: Either<L, B> | null = null
  const results = await mapAtOnce(count, items, async (item) => {
    if (failure !== null) return failure
    const result = await task(item)
    if (E.isLeft(result)) failure ??= result
    return result
  })
  return E.sequenceArray(results)
}
