/** Where an upgrade wants to go; `liveId` null for the token's own live. */
export interface Target {
  readonly liveId: number | null
  readonly query: string
}

/** R128: the four paths of a session socket under any of the prefixes. */
export const findTarget = (url: string, prefixes: ReadonlyArray<string>): Target | null => {
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2)
  for (const prefix of prefixes) {
    const rest = path.startsWith(`${prefix}/ws/live`) ? /^(?:\/(\d{1,20}))?\/?$/.exec(path.slice(prefix.length + '/ws/live'.length)) : null
    if (rest !== null) return { liveId: rest[1] === undefined ? null : Number(rest[1]), query }
  }
  return null
}
