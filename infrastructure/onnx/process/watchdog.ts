/** Reports each key that is watched for longer than its limit. */
export interface Watchdog<Key> {
  /** Starts the time limit of `key`, or restarts it. */
  readonly watch: (key: Key, milliseconds: number) => void
  readonly release: (key: Key) => void
  readonly releaseAll: () => void
}

/** @param onOverdue receives the overdue key and its limit in milliseconds */
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
