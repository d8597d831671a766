/**
 * Loaded by processes that a test looks into: on SIGUSR2 they print what is left after everything that nobody holds was
 * collected, as one line of JSON on standard error.
 */
import { queryObjects } from 'node:v8'

const anyTimer = setTimeout(() => undefined, 0)
clearTimeout(anyTimer)
const Timeout = anyTimer.constructor as typeof Object

let asked = 0
process.on('SIGUSR2', () => {
  // Counting collects first, so the figures of memory are taken after it. The one timer is ours.
  const timers = queryObjects(Timeout, { format: 'count' }) - 1
  const { heapUsed, external } = process.memoryUsage()
  asked += 1
  process.stderr.write(`${JSON.stringify({ inspection: asked, timers, heapMb: heapUsed / 2 ** 20, externalMb: external / 2 ** 20 })}\n`)
})
