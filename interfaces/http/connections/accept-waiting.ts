import type { Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/**
 * Resolves once a turn of the event loop has brought no new connection, after `most` of them at the latest. A server
 * accepts few connections a turn; a close would reset the others, although their clients are connected and may have
 * asked for something.
 */
export const acceptWaiting = async (server: Server, most: number): Promise<void> => {
  let accepted = 0
  const count = (): void => {
    accepted += 1
  }
  server.on('connection', count)
  const turn = async (): Promise<void> => {
    const before = accepted
    // The first only ends the turn that runs now.
    await setImmediate()
    await setImmediate()
    if (accepted > before && accepted < most) await turn()
  }
  await turn()
  server.off('connection', count)
}
