import type { SocketRole } from '../../../application/ports/read-models.ts'

/** The places for sockets, some of which are kept for senders. */
export interface Places {
  readonly isFree: (role: SocketRole) => boolean
  /** Takes a place until the answer is called, once or more often; null where none is free. */
  readonly take: (role: SocketRole) => (() => void) | null
}

/** At most `most` sockets, of which listeners get all but `keptForSenders`. */
export const createPlaces = (most: number, keptForSenders: number): Places => {
  const taken: Record<SocketRole, number> = { sender: 0, listener: 0 }

  const isFree = (role: SocketRole): boolean =>
    taken.sender + taken.listener < most && (role === 'sender' || taken.listener < most - keptForSenders)

  return {
    isFree,
    take: (role) => {
      if (!isFree(role)) return null
      taken[role] += 1
      let isTaken = true
      return () => {
        if (isTaken) taken[role] -= 1
        isTaken = false
      }
    },
  }
}
