/**
 * A thread that attacks a service until it is terminated, so that the thread of the test measures only the service.
 * Ten times a second it resets some connections at random bytes and sends some of the largest inputs.
 */
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { RequestInput } from '../requests/largest-inputs.ts'
import { resetConnections } from '../tools/reset-connections.ts'
import { createRandom } from '../tools/seeded.ts'

export interface Attack {
  readonly port: number
  /** Local address of the attacker. */
  readonly from: string
  readonly seed: string
  /** Whole requests and handshakes, which are cut at a random byte. */
  readonly cut: ReadonlyArray<string>
  readonly inputs: ReadonlyArray<RequestInput>
  readonly resetsPerSecond: number
  readonly inputsPerSecond: number
}

/** What the attacker has done so far. */
export interface AttackReport {
  readonly resets: number
  /** How often each status was answered; 0: no answer. */
  readonly statuses: Readonly<Record<number, number>>
}

const ROUNDS_PER_SECOND = 10

const { port, from, seed, cut, inputs, resetsPerSecond, inputsPerSecond } = workerData as Attack
const random = createRandom(seed)
const agent = new Agent({ keepAlive: true, localAddress: from, maxSockets: 50 })
const statuses: Record<number, number> = {}
let [resets, sent] = [0, 0]

const count = (status: number): void => void (statuses[status] = (statuses[status] ?? 0) + 1)

const send = ({ method, target: path, headers, body }: RequestInput): void => {
  const sending = request({ host: '127.0.0.1', port, path, agent, method, headers }, (response) => {
    response.on('error', () => undefined).resume()
    count(response.statusCode ?? 0)
  })
  sending.on('error', () => count(0)).end(body ?? undefined)
}

const anyCut = (): string => {
  const whole = cut[Math.floor(random() * cut.length)] ?? ''
  return whole.slice(0, Math.floor(random() * (whole.length + 1)))
}

setInterval(() => {
  const connections = resetsPerSecond / ROUNDS_PER_SECOND
  const to = () => connect({ port, host: '127.0.0.1', localAddress: from })
  void resetConnections({ to, bytes: anyCut, count: connections, parallel: connections })
  resets += connections
  for (let n = 0; n < inputsPerSecond / ROUNDS_PER_SECOND; n += 1) {
    const input = inputs[sent % inputs.length]
    if (input !== undefined) send(input)
    sent += 1
  }
  parentPort?.postMessage({ resets, statuses } satisfies AttackReport)
}, 1000 / ROUNDS_PER_SECOND)
