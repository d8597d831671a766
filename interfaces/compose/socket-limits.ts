import { readFileSync } from 'node:fs'

/** File descriptors for stores, models, requests and processes. */
const RESERVED_DESCRIPTORS = 256
/** For systems that do not report their limit. */
const DEFAULT_MAX_SOCKETS = 65_536

/** Returns the number of WebSockets that may be open at once. REST needs the remaining file descriptors. */
export const maxSockets = (): number => {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
    return Number.isInteger(limit) ? Math.max(Math.floor(limit / 4), limit - RESERVED_DESCRIPTORS) : DEFAULT_MAX_SOCKETS
  } catch {
    return DEFAULT_MAX_SOCKETS
  }
}

/** More senders than one machine can transcribe. */
const MAX_SENDER_SLOTS = 1000

/** Returns the number of WebSockets that are reserved for senders, so many listeners cannot lock out a sender. */
export const senderSlots = (max: number): number => Math.min(MAX_SENDER_SLOTS, Math.ceil(max / 8))
