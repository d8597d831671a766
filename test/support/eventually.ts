import { setTimeout } from 'node:timers/promises'

/** Polls until `check` does not throw and answers what it gave; after `timeoutMs` throws what it threw last. */
export const eventually = async <A>(check: () => A | Promise<A>, { timeoutMs = 20_000 } = {}): Promise<A> => {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await setTimeout(20)
    }
  }
}
