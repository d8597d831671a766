import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import test from 'ava'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { mapConcurrently } from '../../../application/concurrency.ts'
import { largestInputs, type RequestInput } from '../../support/requests/largest-inputs.ts'
import { startHttp } from './http-service.ts'

/** Statuses of requests that are refused before they are decoded, or that fail. */
const UNREAD = [408, 413, 415, 429, 431]

test('the largest inputs of every route are read to their end and answered', async (t) => {
  const http = await startHttp(t)
  const statusOf = async ({ method, target, headers, body }: RequestInput): Promise<number> => {
    const authorization = 'Bearer admin'
    const sent = request(`${http.url}${target}`, { method, headers: { ...headers, authorization } })
    sent.end(body ?? undefined)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    await once(answer.resume(), 'end')
    return answer.statusCode ?? 0
  }
  const inputs = ROUTES.flatMap((route) => largestInputs(route).map((input) => [route, input] as const))
  t.true(inputs.length > 3 * ROUTES.length)
  const failed = await mapConcurrently(8, inputs, async ([{ path }, input]) => {
    const status = await statusOf(input)
    return status >= 500 || UNREAD.includes(status) ? [`${input.method} ${path}: ${input.name}: ${status}`] : []
  })
  t.deepEqual(failed.flat(), [])
})
