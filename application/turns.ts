/** Runs tasks with the same key one after another. */
export type Turns = <A>(key: string, task: () => Promise<A>) => Promise<A>

/**
 * A failed task does not affect the next one. Commands for one stream wait for each other here. Otherwise they would
 * race for the next revision of the stream, and the losers would fail with 503 after a few attempts. Between processes
 * the expected revision decides.
 */
export const createTurns = (): Turns => {
  const last = new Map<string, Promise<unknown>>()
  return async (key, task) => {
    const previous = last.get(key) ?? Promise.resolve()
    const turn = previous.then(task, task)
    last.set(key, turn)
    try {
      return await turn
    } finally {
      if (last.get(key) === turn) last.delete(key)
    }
  }
}
