export interface Cancellation {
  /** Makes the present wait and all later waits return null. */
  readonly cancel: () => void
  /** Returns the result of `work`, or null when cancelled. After `cancel` no `work` is started. One wait at a time. */
  readonly orNull: <A>(work: () => Promise<A>) => Promise<A | null>
}

/**
 * Does not use Promise.race with a long-lived promise, because that promise would keep every result in memory until the
 * session ends.
 */
export const createCancellation = (): Cancellation => {
  let isCancelled = false
  let release: () => void = () => undefined
  return {
    cancel: () => {
      isCancelled = true
      release()
    },
    orNull: (work) => {
      if (isCancelled) return Promise.resolve(null)
      return new Promise((resolve, reject) => {
        release = () => resolve(null)
        work().then(resolve, reject)
      })
    },
  }
}
