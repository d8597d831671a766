/**
 * The double as a process. It speaks the parts of EventStoreDB's protocol that the client uses, stores its log in a
 * file and fails on request. `start.ts` forks it with Options as JSON. It ends with its parent process.
 */
import { openEventLog } from './log/event-log.ts'
import { createFaults, type Fault } from './faults.ts'
import { onlyNode } from './node.ts'
import { startServer, type RunningServer } from './server.ts'

export interface Options {
  readonly file: string
  readonly port: number
  readonly tls: { readonly key: string; readonly certificate: string } | null
  readonly account: string | null
}

/**
 * A request of the test. `fault` injects a fault and `drop` breaks all connections; both are answered with `done`.
 * `another` serves another, empty log and is answered with its port.
 */
export type Order =
  { readonly kind: 'fault'; readonly fault: Fault } | { readonly kind: 'drop' } | { readonly kind: 'another' }

export type Report = { readonly kind: 'listening'; readonly port: number } | { readonly kind: 'done' }

const report = (message: Report): void => void process.send?.(message)

const { file, ...options } = JSON.parse(process.argv[2] ?? '') as Options
const faults = createFaults()
const serve = (path: string, port: number): Promise<RunningServer> => {
  const log = openEventLog(path)
  return startServer({ ...options, port, faults, node: (boundPort) => onlyNode(log, boundPort) })
}
const server = await serve(file, options.port)

let others = 0
const serveAnother = async (): Promise<void> => {
  others += 1
  const { port } = await serve(`${file}-${others}`, 0)
  report({ kind: 'listening', port })
}

process.on('message', (order: Order) => {
  if (order.kind === 'another') return void serveAnother()
  if (order.kind === 'fault') faults.add(order.fault)
  else server.dropAll()
  report({ kind: 'done' })
})
process.once('disconnect', () => process.exit(0))
report({ kind: 'listening', port: server.port })
