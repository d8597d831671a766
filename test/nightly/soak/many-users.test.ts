import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { fillWithUsers } from '../../../bench/log-of-users.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import type { Json, Listing, Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { footprintOf } from '../../support/tools/footprint.ts'
import { passwordOf, startTestService, type TestService } from '../../support/service/service.ts'

const USERS = Number(process.env['STENOLOG_TEST_USERS'] ?? 100_000)
const FIRST_USER_ID = 1_000_000
/** Allowed growth: a tenth of the memory that 100,000 users would take if all were loaded. */
const SPARE_MB = 40

const untilReady = (service: TestService): Promise<void> =>
  eventually(async () => {
    const { status } = await service.anonymous().get('/health/ready')
    assert.equal(status, 200)
  }, { timeoutMs: 600_000 })

/** Restarts the service. Returns its memory in megabytes after one login and one request with an API token. */
const memoryOf = async (service: TestService, secret: string): Promise<number> => {
  await service.kill('SIGTERM')
  await service.start()
  await untilReady(service)
  await service.logIn('ada')
  assert.equal((await statusWith(service, secret)).status, 200)
  return footprintOf(service.pid()).own
}

const statusWith = (service: TestService, secret: string) =>
  fetch(`${service.url()}/users/me`, { headers: { 'x-api-key': secret } })

test(`${USERS} users take little memory, and a valid token gets 503, never 401, during a rebuild`, async (t) => {
  t.timeout(1_800_000)
  const service = await startTestService(t)
  const ada = await service.user('ada')
  const { body } = await ada.post<Single<{ readonly token: string }>>('/tokens', { name: 'ci' })
  const secret = body.data.token
  const before = await memoryOf(service, secret)

  await service.kill('SIGTERM')
  const store = await openSqliteEventStore({ file: join(service.dataDirectory, 'events.sqlite') })
  await fillWithUsers(store, USERS, FIRST_USER_ID)
  await store.close()
  for (const suffix of ['', '-wal', '-shm'])
    await rm(join(service.dataDirectory, `documents.sqlite${suffix}`), { force: true })
  await service.start()
  const statuses = new Set<number>()
  await eventually(
    async () => {
      const { status } = await statusWith(service, secret)
      statuses.add(status)
      assert.equal(status, 200)
    },
    { timeoutMs: 600_000 },
  )
  t.false(statuses.has(401), [...statuses].join())
  // A login does not need the lists.
  t.is((await service.anonymous().form('/login', { username: 'ada', password: passwordOf('ada') })).status, 200)
  await untilReady(service)
  const users = await (await service.admin()).get<Listing<Json>>('/users/?limit=1')
  t.is(users.body.pagination.total_items, USERS + 2)

  const after = await memoryOf(service, secret)
  t.log(`${before.toFixed(0)} MB with two users, ${after.toFixed(0)} MB with ${USERS + 2}`)
  t.true(after < before + SPARE_MB, `${before} → ${after}`)
})
