/** What nobody answers within its time. */
export interface Watchdog<Key> {
  /** From now on `key` has `milliseconds`; again for the same key: the time begins anew. */
  readonly watch: (key: Key, milliseconds: number) => void
  readonly release: (key: Key) => void
  readonly releaseAll: () => void
}

/** `onOverdue` gets what took too long and how many milliseconds it had. */
export const createWatchdog = <Key>(onOverdue: (key: Key, milliseconds: number) => void): Watchdog<Key> => {
  const timers = new Map<Key, NodeJS.Timeout>()
  const release = (key: Key): void => {
    clearTimeout(timers.get(key))
    timers.delete(key)
  }
  return {
    watch: (key, milliseconds) => {
      release(key)
      timers.set(key, setTimeout(() => onOverdue(key, milliseconds), milliseconds))
    },
    release,
    releaseAll: () => [...timers.keys()].forEach(release),
  }
}
