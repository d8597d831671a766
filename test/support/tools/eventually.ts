import { setTimeout } from 'node:timers/promises'

/** The pause between two polls grows from the first value to the second value. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 160]

/** Polls until `check` does not throw, and returns its result. After `timeoutMs` throws the last error of `check`. */
export const eventually = async <A>(
  check: () => A | Promise<A>,
  { timeoutMs = 60_000, pauseMs = LONGEST_PAUSE_MS } = {},
): Promise<A> => {
  const deadline = performance.now() + timeoutMs
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.25, pauseMs)) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await setTimeout(pause)
    }
  }
}

const ATTEMPTS = 30

/** Polls like `eventually`, but counts attempts instead of time. For machines that stand still for minutes. */
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
