/** The session or the user that a key belongs to. */
export interface KeySubject {
  readonly key: 'user' | 'live' | 'text'
  readonly kind: 'session' | 'user'
  readonly id: number
}

/** Reads the name of a key. Null for a key that belongs to neither. */
export const subjectOf = (name: string): KeySubject | null => {
  const [, key, id] = /^(user|live|text)-(\d+)$/.exec(name) ?? []
  if (key === undefined) return null
  return { key: key as KeySubject['key'], kind: key === 'user' ? 'user' : 'session', id: Number(id) }
}
