import test from 'ava'
import { createDailyBudget } from '../../../application/budget.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { startHttp } from './http-service.ts'

const DAY_MS = 24 * 3_600_000

const start = async (t: Parameters<typeof startHttp>[0], units: number) => {
  const { monotonic, advance } = createManualTimers()
  const http = await startHttp(t, {}, { budget: createDailyBudget({ monotonic }, units) })
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
  const write = (token = 'user', name = 'ci') =>
    http.send('POST', '/tokens', {
      ...as(token),
      headers: { ...as(token).headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
  return { http, as, write, advance }
}

test('beyond the daily budget writes are refused until the day is over, reads are not', async (t) => {
  const { http, as, write, advance } = await start(t, 3)
  for (let each = 0; each < 3; each++) t.is((await write()).status, 200)
  advance(1000)
  const refused = await write()
  t.is(refused.status, 429)
  t.deepEqual(await refused.json(), { detail: 'Too many requests: daily budget' })
  t.is(refused.headers.get('retry-after'), String(DAY_MS / 1000 - 1))
  for (const [method, path] of [['DELETE', '/lives/2'], ['PUT', '/lives/2/finish'], ['POST', '/logout']] as const)
    t.not((await http.send(method, path, as('user'))).status, 429, 'ends and removals are not refused')
  t.is((await http.send('GET', '/lives', as('user'))).status, 200, 'reads cost nothing')
  for (let each = 0; each < 3; each++) t.is((await write('admin')).status, 200, 'each user has a budget')
  t.is((await write('admin')).status, 429)
  const headers = { ...as('admin').headers, 'content-type': 'application/json' }
  const switchedOff = await http.send('PUT', '/users/7', { headers, body: '{"is_active":false}' })
  t.is(switchedOff.status, 200, 'an administrator can still switch a user off')
  advance(DAY_MS - 1001)
  t.is((await write()).status, 429)
  advance(1)
  t.is((await write()).status, 200, 'Retry-After is true')
})

test('a write costs one unit, and one more for each 8 KiB of its body', async (t) => {
  const { http, as, write } = await start(t, 7)
  const large = 'x'.repeat(5 * 8 * 1024)
  t.is((await write('user', large)).status, 422, 'also a refused request is read')
  t.is((await write()).status, 200)
  t.is((await write()).status, 429)
  for (let each = 0; each < 20; each++) t.is((await http.send('GET', '/lives', as('admin'))).status, 200)
})

test('a budget of 0 is no limit', (t) => {
  const budget = createDailyBudget({ monotonic: () => 0 }, 0)
  budget.charge(1, 1e15)
  t.is(budget.waitSeconds(1), 0)
})

test('users whose day is over are forgotten, others are not', (t) => {
  let now = 0
  const budget = createDailyBudget({ monotonic: () => now }, 1)
  budget.charge(0, 1)
  now = 1000
  for (let userId = 1; userId < 25_000; userId++) budget.charge(userId, 1)
  t.is(budget.waitSeconds(0), DAY_MS / 1000 - 1)
  now = DAY_MS
  budget.charge(25_000, 1)
  t.is(budget.waitSeconds(0), 0)
  t.is(budget.waitSeconds(1), 1)
})
