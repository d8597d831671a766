/** Runs tasks of one key one after another. */
export type Turns = <A>(key: string, task: () => Promise<A>) => Promise<A>

/**
 * Also behind a task that failed: the next one is told nothing of it. Commands that meet on one stream of this process
 * wait for each other here instead of racing for its revision, which lets four of them lose before it says 503. The
 * revision still decides between processes.
 */
export const createTurns = (): Turns => {
  const last = new Map<string, Promise<unknown>>()
  return async (key, task) => {
    const before = last.get(key) ?? Promise.resolve()
    const turn = before.then(task, task)
    last.set(key, turn)
    try {
      return await turn
    } finally {
      if (last.get(key) === turn) last.delete(key)
    }
  }
}
