import { setTimeout } from 'node:timers/promises'

/** Milliseconds between the first two looks, and at most: what takes long is asked for less often. */
const [SOON, SELDOM] = [20, 160]

/** Polls until `check` does not throw and answers what it gave; after `timeoutMs` throws what it threw last. */
export const eventually = async <A>(check: () => A | Promise<A>, { timeoutMs = 60_000, pauseMs = SELDOM } = {}): Promise<A> => {
  const deadline = performance.now() + timeoutMs
  for (let pause = SOON; ; pause = Math.min(pause * 1.25, pauseMs)) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await setTimeout(pause)
    }
  }
}

const ATTEMPTS = 30

/** For tests that outlast minutes in which the machine stands still: by attempts, not by a clock that goes on meanwhile. */
export const patiently = async <A>(check: () => Promise<A>): Promise<A> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await check()
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await setTimeout(200)
    }
  }
}
