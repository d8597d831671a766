/** A map that keeps only the most recently used entries. */
export interface LruCache<K, V> {
  readonly get: (key: K) => V | undefined
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
  /** Returns the entries, the least recently used first. They may be deleted meanwhile. */
  readonly entries: () => Iterable<readonly [K, V]>
}

export const createLruCache = <K, V>(maxEntries: number): LruCache<K, V> => {
  const entries = new Map<K, V>()
  const set = (key: K, value: V): void => {
    entries.delete(key)
    entries.set(key, value)
    const [leastRecent] = entries.keys()
    if (entries.size > maxEntries && leastRecent !== undefined) entries.delete(leastRecent)
  }
  return {
    get: (key) => {
      const value = entries.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
    set,
    delete: (key) => void entries.delete(key),
    entries: () => entries,
  }
}
