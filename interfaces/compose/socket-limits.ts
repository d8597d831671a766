import { readFileSync } from 'node:fs'

/** Descriptors for stores, models, requests and processes. */
const KEPT_DESCRIPTORS = 256
/** Where the system tells no limit. */
const MOST_SOCKETS = 65_536

/** Sockets that may be open at once, so that REST still finds a descriptor (S38). */
export const maxSockets = (): number => {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
    return Number.isInteger(limit) ? Math.max(Math.floor(limit / 4), limit - KEPT_DESCRIPTORS) : MOST_SOCKETS
  } catch {
    return MOST_SOCKETS
  }
}

/** More than any machine transcribes at once. */
const MOST_PLACES_FOR_SENDERS = 1000

/** Of `most` sockets those that no listener may take, so that a crowd never keeps a speaker out. */
export const senderSlots = (most: number): number => Math.min(MOST_PLACES_FOR_SENDERS, Math.ceil(most / 8))
