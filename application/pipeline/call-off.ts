/** Lets the one who waits go on at once, whatever it waits for. */
export interface CallOff {
  /** From now on every wait answers null. */
  readonly callOff: () => void
  /** What `work` gives, or null when that is called off; then `work` is not begun. One wait at a time. */
  readonly orNull: <A>(work: () => Promise<A>) => Promise<A | null>
}

/**
 * Not Promise.race with a promise that outlives the work: that one would keep every answer in memory until it settles,
 * which here is the end of a live.
 */
export const createCallOff = (): CallOff => {
  let isOff = false
  let release: () => void = () => undefined
  return {
    callOff: () => {
      isOff = true
      release()
    },
    orNull: (work) => {
      if (isOff) return Promise.resolve(null)
      return new Promise((resolve, reject) => {
        release = () => resolve(null)
        work().then(resolve, reject)
      })
    },
  }
}
