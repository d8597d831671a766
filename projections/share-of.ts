import { BEGINNING, type Position } from '../application/ports/event-store.ts'

/**
 * Returns the part of the log before a position, 0 to 1. Positions are opaque, but in all our stores they begin with a
 * number of fixed width that grows with the log. Returns null for any other position.
 */
export const shareOf = (position: Position, head: Position): number | null => {
  const [done, all] = [position, head].map((text) => /^\d+/.exec(text)?.[0])
  if (position === BEGINNING && all !== undefined) return 0
  if (done === undefined || all === undefined || done.length !== all.length || Number(all) === 0) return null
  return Math.min(1, Number(done) / Number(all))
}
