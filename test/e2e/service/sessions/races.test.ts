import test from 'ava'
import type { Listing, LiveJson } from '../../../support/service/client.ts'
import { startTestService } from '../../../support/service/service.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const shared = sharedTestService()

const tally = (values: ReadonlyArray<number>): Readonly<Record<string, number>> =>
  Object.fromEntries([...new Set(values)].map((value) => [value, values.filter((item) => item === value).length]))

test('when memory is left for one session, exactly one of 50 parallel creates succeeds', async (t) => {
  const { vram } = await (await shared.user('probe')).createLive()
  const service = await startTestService(t, { VRAM_MB: String(vram) })
  const client = await service.user('crowd', { max_sessions: 100 })
  const request = { model: 'demo-en', language: 'en' }
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.post('/lives', request)))
  t.deepEqual(tally(answers.map(({ status }) => status)), { 200: 1, 503: 49 })
  for (const { body, headers, status } of answers)
    if (status === 503) {
      t.deepEqual(body, { detail: `Not enough VRAM: ${vram} MB required, 0 MB available` })
      t.is(headers.get('retry-after'), '30')
    }
  t.is((await client.get<Listing<LiveJson>>('/lives/')).body.pagination.total_items, 1)
})

test('50 parallel creates never exceed the quota, and a finished session frees one place', async (t) => {
  const client = await shared.user('crowd of seven', { max_sessions: 7 })
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => client.post('/lives', { model: 'demo-en', language: 'en' })),
  )
  t.deepEqual(tally(answers.map(({ status }) => status)), { 200: 7, 403: 43 })
  t.deepEqual(answers.find(({ status }) => status === 403)?.body, { detail: 'Maximum number of sessions reached (7)' })

  const { data } = (await client.get<Listing<LiveJson>>('/lives/')).body
  t.is((await client.put(`/lives/${data[0]?.id}/finish`)).status, 200)
  t.is((await client.post('/lives', { model: 'demo-en', language: 'en' })).status, 200)
  t.is((await client.post('/lives', { model: 'demo-en', language: 'en' })).status, 403)
})

test('of 20 simultaneous senders exactly one stays connected', async (t) => {
  const client = await shared.user('crowd of senders')
  const live = await client.createLive()
  const senders = await Promise.all(Array.from({ length: 20 }, () => client.socket(live, 'sender')))
  const outcomes = await Promise.all(
    senders.map((sender) =>
      Promise.race([
        sender.closed.then(({ code, reason }) => `${code} ${reason}`),
        sender.frame((frame) => frame['status'] === 'ASR process started').then(
          () => 'won',
          () => sender.closed.then(({ code, reason }) => `${code} ${reason}`),
        ),
        // Only the winner’s config is answered.
        sender.frame((frame) => frame['type'] === 'connection').then(
          () => (sender.send({ type: 'config' }), new Promise<never>(() => undefined)),
          () => new Promise<never>(() => undefined),
        ),
      ]),
    ),
  )
  t.is(outcomes.filter((outcome) => outcome === 'won').length, 1)
  t.is(outcomes.filter((outcome) => outcome === '4409 sender_already_connected').length, 19)
})
