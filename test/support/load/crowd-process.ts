/** A process with many listeners of one session. After a restart of the service each reconnects as the README says. */
import { setTimeout as delay } from 'node:timers/promises'
import { openBare } from '../../../bench/bare-socket.ts'
import { createRandom } from '../tools/seeded.ts'
import type { CrowdOrder, CrowdReport, Returned } from './crowd.ts'

/** Listeners that connect at the same time. */
const AT_ONCE = 100
/** After a close with 1012 a client waits for a random time between these values before it reconnects. */
const [MIN_WAIT_MS, MAX_WAIT_MS] = [5000, 30_000]
const RETRY_MS = 1000

const send = (report: CrowdReport): void => void process.send?.(report)

const reconnect = async ({ port, path, finals }: CrowdOrder, index: number): Promise<Returned> => {
  const closedAt = performance.now()
  const after = index % finals
  await delay(MIN_WAIT_MS + createRandom(`listener ${index}`)() * (MAX_WAIT_MS - MIN_WAIT_MS))
  const begin = performance.now()
  const texts: Array<string> = []
  const code = Promise.withResolvers<number>()
  let refused = 0
  for (let open = false; !open; )
    try {
      const text = (payload: Buffer): void => void texts.push(payload.toString())
      await openBare(port, `${path}&after=${after}`, { text, closed: code.resolve })
      open = true
    } catch {
      refused += 1
      await delay(RETRY_MS)
    }
  const connectedAt = performance.now()
  const [tookMs, backMs] = [connectedAt - begin, connectedAt - closedAt]
  const closeCode = await code.promise
  // The first frame is the connection frame with role and state.
  return { after, refused, code: closeCode, text: texts.slice(1).join('\n'), tookMs, backMs }
}

const run = async (order: CrowdOrder): Promise<void> => {
  const codes: Array<Promise<number>> = []
  const connect = async (): Promise<void> => {
    const closed = Promise.withResolvers<number>()
    codes.push(closed.promise)
    await openBare(order.port, order.path, { text: () => undefined, closed: closed.resolve })
  }
  for (let remaining = order.count; remaining > 0; remaining -= AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, remaining) }, connect))
  send({ kind: 'connected' })
  const returned = await Promise.all(codes.map(async (code, index) => {
    const firstCode = await code
    return { firstCode, listener: await reconnect(order, index) }
  }))
  const firstCodes = [...new Set(returned.map(({ firstCode }) => firstCode))]
  send({ kind: 'returned', codes: firstCodes, listeners: returned.map(({ listener }) => listener) })
}

process.on('message', (order: CrowdOrder) => void run(order))
process.once('disconnect', () => process.exit())
