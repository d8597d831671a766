import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { startHttp } from '../../api/http/http-service.ts'
import type { Route } from '../../../interfaces/http/route.ts'
import { largestInputs, smallestInput, type RequestInput } from '../../support/requests/largest-inputs.ts'

/** The status of an answer, and the longest block of the event loop until it was sent, in ms. */
interface Measured {
  readonly status: number
  readonly block: number
}

// Wall time: some kernels count the processor time of a thread in steps of 4 ms. So the machine must be quiet.
const nowMs = (): number => performance.now()

/**
 * Measures requests to a server in this thread, on a quiet machine. Another thread sends them.
 */
const startMeasuring = (t: ExecutionContext, url: string) => {
  const worker = new Worker(new URL('../../support/requests/sending-worker.ts', import.meta.url))
  t.teardown(() => worker.terminate())
  return async (input: RequestInput): Promise<Measured> => {
    let [block, last, isOver] = [0, nowMs(), false]
    const turn = (): void => {
      const now = nowMs()
      block = Math.max(block, now - last)
      last = now
      if (!isOver) setImmediate(turn)
    }
    worker.postMessage({ url, input })
    setImmediate(turn)
    const [status] = (await once(worker, 'message')) as [number]
    isOver = true
    turn()
    return { status, block }
  }
}

/** Returns the time of `work`, in ms. */
const timeOf = (work: () => unknown): number => {
  const before = nowMs()
  work()
  return nowMs() - before
}

const REPEATS = 20
/** Statuses of requests that are refused before they are decoded. */
const UNREAD = [408, 413, 415, 429, 431]

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** The time to parse and print the bytes of an input as JSON. */
const printingTime = ({ target, headers, body }: RequestInput): number => {
  const text = body?.startsWith('{') === true ? body : JSON.stringify({ target, headers, body })
  return median(Array.from({ length: REPEATS }, () => timeOf(() => JSON.stringify(JSON.parse(text)))))
}

/** The grouping of an earlier version: each name was searched in all parameters. */
const quadratic = (target: string): unknown => {
  const search = new URLSearchParams(target.slice(target.indexOf('?')))
  return Array.from(new Set(search.keys()), (name) => search.getAll(name))
}

/**
 * Sends the largest inputs of the routes to the service at `url` in this thread. None may block the event loop longer
 * than three times its smallest request and parsing and printing the same bytes. `token` belongs to an administrator.
 */
const checkLargestInputs = async (
  t: ExecutionContext, url: string, token: string, routes: ReadonlyArray<Route>,
): Promise<void> => {
  const measure = startMeasuring(t, url)
  const blockOf = async ({ access, path }: Route, input: RequestInput): Promise<number> => {
    const headers = { ...(access !== 'public' && { authorization: `Bearer ${token}` }), ...input.headers }
    const { status, block } = await measure({ ...input, headers })
    t.true(status >= 200 && status < 500 && !UNREAD.includes(status), `${path}: ${input.name}: ${status}`)
    return block
  }
  // By turns, so that both meet the same state of the machine and of the compiler.
  const blocksOf = async (route: Route, input: RequestInput): Promise<Record<'smallest' | 'largest', number>> => {
    const [smallest, largest]: [Array<number>, Array<number>] = [[], []]
    for (let n = 0; n < REPEATS; n += 1) {
      smallest.push(await blockOf(route, smallestInput(route)))
      largest.push(await blockOf(route, input))
    }
    return { smallest: median(smallest), largest: median(largest) }
  }
  const slow: Array<string> = []
  for (const route of routes) {
    for (const input of largestInputs(route)) {
      const { smallest, largest } = await blocksOf(route, input)
      const limit = 3 * (printingTime(input) + smallest)
      const times = `${largest.toFixed(2)} ms > ${limit.toFixed(2)} ms`
      if (largest > limit) slow.push(`${route.method} ${route.path}: ${input.name}: ${times}`)
      if (input.name === 'names in the query')
        t.true(timeOf(() => quadratic(input.target)) > limit, 'the test would see the old grouping')
    }
  }
  t.deepEqual(slow, [])
}

test('no input of any route blocks the event loop much longer than parsing and printing its bytes', async (t) => {
  t.timeout(600_000)
  const http = await startHttp(t)
  await checkLargestInputs(t, http.url, 'admin', ROUTES)
})
