import test from 'ava'
import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import type { LiveLifecycle } from '../../../application/running/live-lifecycle.ts'
import { openSocket, type TestSocket } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { finalTextsOf, finalKeysOf } from '../../support/service/final-frames.ts'
import { dropAndResume } from '../../support/load/resume-drops.ts'
import { audioOf, awaitPongs, shakeHands, startSockets } from '../../support/worlds/socket-world.ts'

const TARGETS = [{ model: 'mt-es', from: 'en', to: 'es' }]

/**
 * Starts a session with `count` finals and their translations. `unbroken` is a listener that received all of them, and
 * `listen` connects another listener with a query.
 */
const startWithFinals = async (
  t: Parameters<typeof startSockets>[0],
  count: number,
  ...options: Parameters<typeof startSockets> extends [unknown, ...infer Rest] ? Rest : never
) => {
  const fixture = await startSockets(t, ...options)
  const live = fixture.lifecycle.add({ translations: TARGETS })
  const sending = await fixture.configured(live)
  sending.sendAudio(audioOf(0.1))
  const unbroken = await fixture.listener(live)
  for (let segment = 1; segment <= count; segment += 1)
    await fixture.pipelines.of(live.id).final(segment, `segment ${segment}`)
  await eventually(() => assert.equal(finalKeysOf(unbroken).length, 2 * count))
  const listen = (query: string): Promise<TestSocket> =>
    openSocket(`${fixture.origin}/ws/live?token=${live.listenerToken}${query}`)
  return { ...fixture, live, sending, unbroken, listen }
}

for (const [where, keptFinals] of [['memory', 100], ['the store', 2]] as const) {
  test(
    `after=N and replay=N send past finals from ${where}, then new finals, with the same bytes and order`,
    async (t) => {
      const { live, unbroken, listen, pipelines } = await startWithFinals(t, 5, {}, {}, { keptFinals })
      const cases = [
        ['&after=3', ['3es', '4en', '4es', '5en', '5es']],
        ['&after=5', ['5es']],
        ['&after=0', ['1en', '1es', '2en', '2es', '3en', '3es', '4en', '4es', '5en', '5es']],
        ['&after=999999999999999', []],
        ['&replay=2', ['4en', '4es', '5en', '5es']],
        ['&replay=0', []],
        ['&replay=100', ['1en', '1es', '2en', '2es', '3en', '3es', '4en', '4es', '5en', '5es']],
        ['&after=4&replay=5', ['4es', '5en', '5es']],
        ['&after=1&after=4', ['4es', '5en', '5es']],
        ['', []],
      ] as const
      const sockets = await Promise.all(cases.map(([query]) => listen(query)))
      for (const socket of sockets) await awaitPongs(socket)
      pipelines.of(live.id).partial(6, 'segm')
      await pipelines.of(live.id).final(6, 'segment 6')
      await eventually(() => assert.equal(finalKeysOf(unbroken).length, 12))
      for (const [index, [query, past]] of cases.entries()) {
        const socket = sockets[index]
        assert.ok(socket !== undefined)
        await eventually(() => assert.ok(finalKeysOf(socket).includes('6es')))
        t.deepEqual(finalKeysOf(socket), [...past, '6en', '6es'], query)
        t.is(socket.frames[0]?.['type'], 'connection', query)
        t.deepEqual(finalTextsOf(socket), finalTextsOf(unbroken).slice(-finalTextsOf(socket).length), query)
      }
    },
  )
}

test('a replay contains at most 100 segments', async (t) => {
  const { listen } = await startWithFinals(t, 101)
  const late = await listen('&replay=100')
  await awaitPongs(late)
  t.is(finalKeysOf(late).length, 200)
  t.is(finalKeysOf(late)[0], '2en')
})

test('an invalid after or replay value is 422 before the upgrade, for both roles', async (t) => {
  const { live, sending, origin } = await startWithFinals(t, 1)
  const [notInteger, below] = [['int_parsing'], ['greater_than_equal']] as const
  for (const [query, type, loc] of [
    ['after=', notInteger, 'after'],
    ['after=-1', below, 'after'],
    ['after=1.5', notInteger, 'after'],
    ['after=x', notInteger, 'after'],
    ['after=1e3', notInteger, 'after'],
    ['after=2&after=x', notInteger, 'after'],
    ['after=1000000000000000', ['less_than_equal'], 'after'],
    ['replay=all', notInteger, 'replay'],
    ['replay=-1', below, 'replay'],
    ['replay=101', ['less_than_equal'], 'replay'],
    ['after=1&replay=-', notInteger, 'replay'],
  ] as const)
    for (const token of [live.listenerToken, live.senderToken]) {
      const { status, headers, body } = await shakeHands(`${origin}/ws/live?token=${token}&${query}`)
      t.is(status, 422, query)
      const { detail } = JSON.parse(body) as { readonly detail: ReadonlyArray<Record<string, unknown>> }
      t.like(detail, { length: 1, 0: { type: type[0], loc: ['query', loc] } }, query)
      t.truthy(headers['x-request-id'])
    }
  t.is((await shakeHands(`${origin}/ws/live?token=unknown&after=x`)).status, 401, 'the token is checked first')
  await awaitPongs(sending)
  t.is(live.status, 'active')
})

test('a client that resumes within a minute after the end gets the missed finals, then session_finished', async (t) => {
  const { live, sending, unbroken, listen, timers } = await startWithFinals(t, 2)
  sending.send({ type: 'FINISH' })
  await unbroken.closed
  const late = await listen('&after=1')
  t.deepEqual(await late.closed, { code: 4410, reason: 'session_finished' })
  t.deepEqual(finalKeysOf(late), ['1es', '2en', '2es', '3en', '3es'])
  t.deepEqual(late.frames[0], {
    type: 'connection',
    status: 'connected',
    role: 'listener',
    session_id: live.id,
    state: 'finished',
  })
  t.deepEqual(finalTextsOf(late), finalTextsOf(unbroken).slice(1))
  live.segments.length = 0
  timers.advance(60_000)
  t.deepEqual(
    finalKeysOf(await listen('&after=1').then(async (socket) => socket.closed.then(() => socket))),
    [],
    'memory forgets the finals too',
  )
})

test('the finals of a deleted session are forgotten at once', async (t) => {
  const { live, lifecycle, unbroken, listen } = await startWithFinals(t, 1)
  lifecycle.endElsewhere(live.id, { status: 'finished', reason: 'deleted' })
  await unbroken.closed
  live.segments.length = 0
  const late = await listen('&after=0')
  t.is((await late.closed).code, 4410)
  t.deepEqual(finalKeysOf(late), [])
})

test('a final sent during a store outage is kept for clients that resume before it is stored', async (t) => {
  const { live, unbroken, listen, pipelines, lifecycle, timers } = await startWithFinals(
    t,
    1,
    {},
    {},
    { keptFinals: 0 },
  )
  lifecycle.setUnavailable(true)
  const delivery = pipelines.of(live.id).final(2, 'segment 2')
  await eventually(() => assert.ok(timers.size() > 0))
  timers.advance(1000)
  await delivery
  await eventually(() => assert.ok(finalKeysOf(unbroken).includes('2en')))
  lifecycle.setUnavailable(false)
  t.false(live.segments.some(({ segment }) => segment === 2))
  const resumed = await listen('&after=1')
  await eventually(() => assert.ok(finalKeysOf(resumed).includes('2en')))
  t.deepEqual(finalKeysOf(resumed).filter((final) => final !== '2es'), ['1es', '2en'])
  timers.advance(60_000)
})

test('a client that resumes between storing and sending a final gets it once', async (t) => {
  const store = Promise.withResolvers<void>()
  const stored: Array<number> = []
  const recordSegment: LiveLifecycle['recordSegment'] = async ({ segment }) => {
    stored.push(segment)
    if (segment > 1) await store.promise
    return E.right(undefined)
  }
  const storedFinals: LiveLifecycle['storedFinals'] = async () => {
    const pages = [
      stored.map((segment) => ({
        kind: 'transcription' as const,
        segment,
        final: true,
        start: 0,
        end: 1,
        text: 'stored',
        language: 'en',
        term: 1,
      })),
    ]
    return E.right({ wanted: () => true, next: async () => E.right(pages.pop() ?? null) })
  }
  const { origin, lifecycle, configured, pipelines } = await startSockets(
    t,
    {},
    {},
    { recordSegment, storedFinals, keptFinals: 0 },
  )
  // The teardown of the sockets waits for pending store answers.
  t.teardown(store.resolve)
  await configured(lifecycle.add())
  await pipelines.of(1).final(1, 'one')
  const delivery = pipelines.of(1).final(2, 'two')
  await eventually(() => assert.deepEqual(stored, [1, 2]))
  const resumed = await openSocket(`${origin}/ws/live?token=listener-1&after=0`)
  await awaitPongs(resumed)
  t.deepEqual(finalKeysOf(resumed), ['1en'])
  store.resolve()
  await delivery
  await pipelines.of(1).final(3, 'three')
  await eventually(() => assert.ok(finalKeysOf(resumed).includes('3en')))
  t.deepEqual(finalKeysOf(resumed), ['1en', '2en', '3en'])
})

test('a resume that needs the unavailable store is 503; a connection without resume opens', async (t) => {
  const { live, origin } = await startWithFinals(
    t,
    8,
    {},
    {},
    { keptFinals: 1, storedFinals: async () => E.left({ _tag: 'StoreUnavailable', reason: 'unavailable' }) },
  )
  const url = `${origin}/ws/live?token=${live.listenerToken}`
  t.is((await shakeHands(`${url}&after=1`)).status, 503)
  t.is((await shakeHands(url)).status, 101)
})

test('with COMPAT_STRICT resent transcriptions have exactly the five members', async (t) => {
  const { origin, pipelines, lifecycle, configured } = await startSockets(t, {}, { strict: true })
  await configured(lifecycle.add())
  await pipelines.of(1).final(1, 'Hello')
  const resumed = await openSocket(`${origin}/ws/live?token=listener-1&after=0`)
  const frame = await resumed.frame(({ type }) => type === 'transcription')
  t.deepEqual(Object.keys(frame), ['type', 'start', 'end', 'text', 'language'])
})

test('a client that drops and resumes its socket 20 times gets every final once', (t) =>
  dropAndResume(t, createMemoryEventStore(), 20))
