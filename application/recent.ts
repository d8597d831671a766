/** A map that keeps the entries that were set or asked for last. */
export interface Recent<K, V> {
  readonly get: (key: K) => V | undefined
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
}

/** Of at most `most` entries. */
export const createRecent = <K, V>(most: number): Recent<K, V> => {
  const entries = new Map<K, V>()
  const set = (key: K, value: V): void => {
    entries.delete(key)
    entries.set(key, value)
    const [longestAgo] = entries.keys()
    if (entries.size > most && longestAgo !== undefined) entries.delete(longestAgo)
  }
  return {
    get: (key) => {
      const value = entries.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
    set,
    delete: (key) => void entries.delete(key),
  }
}
