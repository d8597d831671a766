/** The session that a WebSocket handshake addresses. `liveId` is null when only the token names the session. */
export interface SocketTarget {
  readonly liveId: number | null
  readonly query: string
}

/** Parses `/ws/live` and `/ws/live/{id}`, each with or without a trailing slash. Null for any other path. */
export const findTarget = (url: string, prefixes: ReadonlyArray<string>): SocketTarget | null => {
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2)
  for (const prefix of prefixes) {
    const base = `${prefix}/ws/live`
    const match = path.startsWith(base) ? /^(?:\/(\d{1,20}))?\/?$/.exec(path.slice(base.length)) : null
    if (match !== null) return { liveId: match[1] === undefined ? null : Number(match[1]), query }
  }
  return null
}
