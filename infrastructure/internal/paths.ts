/** What is asked of the internal port: a link of a live, or its end, of one incarnation of a process. */
export interface Asked {
  readonly incarnation: string
  readonly liveId: number
  readonly what: 'link' | 'end'
}

const SHAPE = /^\/([^/]{1,200})\/lives\/([1-9]\d{0,15})\/(link|end)$/

export const pathOf = ({ incarnation, liveId, what }: Asked): string =>
  `/${encodeURIComponent(incarnation)}/lives/${liveId}/${what}`

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Null: this asks for nothing that there is. */
export const findAsked = (path: string): Asked | null => {
  const [, raw = '', id, what] = SHAPE.exec(path) ?? []
  const [incarnation, liveId] = [decoded(raw), Number(id)]
  if (incarnation === null || !Number.isSafeInteger(liveId)) return null
  return what === 'link' || what === 'end' ? { incarnation, liveId, what } : null
}
