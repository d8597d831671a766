/**
 * Loaded into inspectable processes (see inspect.ts). On SIGUSR2 the process collects garbage and prints its timers and
 * memory to standard error, as one line of JSON.
 */
import { queryObjects } from 'node:v8'

const anyTimer = setTimeout(() => undefined, 0)
clearTimeout(anyTimer)
const Timeout = anyTimer.constructor as typeof Object

let inspections = 0
process.on('SIGUSR2', () => {
  // The count collects garbage, so memory is measured after it. One timer belongs to this file.
  const timers = queryObjects(Timeout, { format: 'count' }) - 1
  const { heapUsed, external } = process.memoryUsage()
  inspections += 1
  const report = { inspection: inspections, timers, heapMb: heapUsed / 2 ** 20, externalMb: external / 2 ** 20 }
  process.stderr.write(`${JSON.stringify(report)}\n`)
})
