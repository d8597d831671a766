import type { Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/**
 * Accepts the connections in the backlog before a close. It resolves after an event loop turn without a new connection,
 * or after `maxConnections`. A close would reset the connections that are still in the backlog, although their clients
 * may have sent requests.
 */
export const acceptBacklog = async (server: Server, maxConnections: number): Promise<void> => {
  let accepted = 0
  const count = (): void => {
    accepted += 1
  }
  server.on('connection', count)
  const untilQuietTurn = async (): Promise<void> => {
    const before = accepted
    // The first `setImmediate` ends the current turn. The second one waits for a whole turn.
    await setImmediate()
    await setImmediate()
    if (accepted > before && accepted < maxConnections) await untilQuietTurn()
  }
  await untilQuietTurn()
  server.off('connection', count)
}
