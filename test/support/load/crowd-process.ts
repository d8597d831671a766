/** A process with many listeners of one live; after a close for a restart each comes back by itself, as clients are told to. */
import { setTimeout as delay } from 'node:timers/promises'
import { openBare } from '../../../bench/bare-socket.ts'
import { createRandom } from '../tools/seeded.ts'
import type { CrowdOrder, CrowdReport, Returned } from './crowd.ts'

const AT_ONCE = 100
/** README: after 1012 a client waits so long, at random, before it connects again; after a refusal a second more. */
const [SHORTEST_MS, LONGEST_MS] = [5000, 30_000]
const AGAIN_MS = 1000

const tell = (report: CrowdReport): void => void process.send?.(report)

const comeBack = async ({ port, path, known }: CrowdOrder, index: number): Promise<Returned> => {
  const closedAt = performance.now()
  const after = index % known
  await delay(SHORTEST_MS + createRandom(`listener ${index}`)() * (LONGEST_MS - SHORTEST_MS))
  const begin = performance.now()
  const texts: Array<string> = []
  const code = Promise.withResolvers<number>()
  let refused = 0
  for (let open = false; !open; )
    try {
      await openBare(port, `${path}&after=${after}`, { text: (payload) => void texts.push(payload.toString()), closed: code.resolve })
      open = true
    } catch {
      refused += 1
      await delay(AGAIN_MS)
    }
  const now = performance.now()
  // The first frame tells the role and the state.
  return { after, refused, code: await code.promise, text: texts.slice(1).join('\n'), tookMs: now - begin, backMs: now - closedAt }
}

const obey = async (order: CrowdOrder): Promise<void> => {
  const codes: Array<Promise<number>> = []
  const come = async (): Promise<void> => {
    const closed = Promise.withResolvers<number>()
    codes.push(closed.promise)
    await openBare(order.port, order.path, { text: () => undefined, closed: closed.resolve })
  }
  for (let left = order.count; left > 0; left -= AT_ONCE) await Promise.all(Array.from({ length: Math.min(AT_ONCE, left) }, come))
  tell({ kind: 'there' })
  const returned = await Promise.all(codes.map(async (code, index) => ({ first: await code, again: await comeBack(order, index) })))
  tell({ kind: 'returned', codes: [...new Set(returned.map(({ first }) => first))], listeners: returned.map(({ again }) => again) })
}

process.on('message', (order: CrowdOrder) => void obey(order))
process.once('disconnect', () => process.exit())
