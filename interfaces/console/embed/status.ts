/** What the page knows of its connection and of its session. */
export interface Situation {
  /** `broken`: mostly there again before anybody misses it; `lost`: tried again without success. */
  readonly connection: 'connecting' | 'open' | 'broken' | 'lost' | 'restarting'
  /** The session has begun: somebody may speak. */
  readonly hasBegun: boolean
  /** There is text on the page, and it is not long since the last. */
  readonly isSpoken: boolean
}

/** What has to be known even over a picture. */
const TROUBLE: Readonly<Partial<Record<Situation['connection'], string>>> = {
  lost: 'No connection. Trying again …',
  restarting: 'The service restarts. The captions come back by themselves.',
}

const CONNECTING: Readonly<Partial<Record<Situation['connection'], string>>> = {
  connecting: 'Connecting …', broken: 'Connection lost. Reconnecting …',
}

/**
 * How it stands in words, so that nobody looks at an empty page and wonders; '' while the captions speak for
 * themselves. Over a picture (`isOverlay`) only trouble is told.
 */
export const statusOf = ({ connection, hasBegun, isSpoken }: Situation, isOverlay: boolean): string => {
  const trouble = TROUBLE[connection]
  if (trouble !== undefined) return trouble
  if (isOverlay) return ''
  const coming = CONNECTING[connection]
  if (coming !== undefined) return coming
  if (!hasBegun) return 'Connected. The captions have not begun yet.'
  return isSpoken ? '' : 'Connected. Waiting for speech …'
}
