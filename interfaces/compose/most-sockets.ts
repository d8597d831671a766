import { readFileSync } from 'node:fs'

/** Descriptors for stores, models, requests and processes. */
const KEPT_DESCRIPTORS = 256
/** Where the system tells no limit. */
const MOST_SOCKETS = 65_536

/** Sockets that may be open at once, so that REST still finds a descriptor (S38). */
export const mostSockets = (): number => {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
    return Number.isInteger(limit) ? Math.max(Math.floor(limit / 4), limit - KEPT_DESCRIPTORS) : MOST_SOCKETS
  } catch {
    return MOST_SOCKETS
  }
}
