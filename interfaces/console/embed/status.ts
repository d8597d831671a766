/** The state of the connection and of the session. */
export interface Situation {
  /** `broken`: just interrupted, the first reconnect is under way. `lost`: a reconnect has failed. */
  readonly connection: 'connecting' | 'open' | 'broken' | 'lost' | 'restarting'
  /** The session has begun. */
  readonly hasBegun: boolean
  /** The page shows text, and its last change is recent. */
  readonly hasRecentText: boolean
}

/** Problems that are shown even over a video. */
const PROBLEMS: Readonly<Partial<Record<Situation['connection'], string>>> = {
  lost: 'No connection. Trying again …',
  restarting: 'The service restarts. The captions return automatically.',
}

const CONNECTING: Readonly<Partial<Record<Situation['connection'], string>>> = {
  connecting: 'Connecting …', broken: 'Connection lost. Reconnecting …',
}

/**
 * Returns the status text, so an empty page explains itself. It is empty while captions appear. Over a video
 * (`isOverlay`) it states only problems.
 */
export const statusOf = ({ connection, hasBegun, hasRecentText }: Situation, isOverlay: boolean): string => {
  const problem = PROBLEMS[connection]
  if (problem !== undefined) return problem
  if (isOverlay) return ''
  const connecting = CONNECTING[connection]
  if (connecting !== undefined) return connecting
  if (!hasBegun) return 'Connected. The captions have not begun yet.'
  return hasRecentText ? '' : 'Connected. Waiting for speech …'
}
