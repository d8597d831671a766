import type { SocketRole } from '../../../application/ports/read-models.ts'

/** Slots for open sockets. Some of them are reserved for senders. */
export interface SocketSlots {
  readonly isFree: (role: SocketRole) => boolean
  /** Takes a slot and returns its release function, which may be called repeatedly. Null when no slot is free. */
  readonly take: (role: SocketRole) => (() => void) | null
}

/** Creates `max` slots. Listeners may use all except `reserved`. */
export const createSocketSlots = (max: number, reserved: number): SocketSlots => {
  const taken: Record<SocketRole, number> = { sender: 0, listener: 0 }

  const isFree = (role: SocketRole): boolean =>
    taken.sender + taken.listener < max && (role === 'sender' || taken.listener < max - reserved)

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
