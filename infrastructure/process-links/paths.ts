/** The target of a request to the internal port: a session in one run of a process, and the action for this session. */
export interface Target {
  /** Id of the run of the process, so a restarted process refuses requests for its predecessor. */
  readonly incarnation: string
  readonly liveId: number
  /** `link` opens a link to the session, `end` ends the session. */
  readonly action: 'link' | 'end'
}

const PATH = /^\/([^/]{1,200})\/lives\/([1-9]\d{0,15})\/(link|end)$/

export const pathOf = ({ incarnation, liveId, action }: Target): string =>
  `/${encodeURIComponent(incarnation)}/lives/${liveId}/${action}`

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Parses the path of a request; null for an unknown path. */
export const parsePath = (path: string): Target | null => {
  const [, raw = '', id, action] = PATH.exec(path) ?? []
  const [incarnation, liveId] = [decoded(raw), Number(id)]
  if (incarnation === null || !Number.isSafeInteger(liveId)) return null
  return action === 'link' || action === 'end' ? { incarnation, liveId, action } : null
}
