import test from 'ava'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { eventually } from '../../support/tools/eventually.ts'
import { createMemoryLifecycle } from '../../support/doubles/memory/lifecycle.ts'
import { shakeHands, startSockets, type SocketFixture } from '../../support/worlds/socket-world.ts'

/** A wrong token as long as a generated token. Such tokens are too long to guess. */
const WRONG_TOKEN = 'x'.repeat(32)

const statusOf = async ({ origin }: SocketFixture, token: string, query = ''): Promise<number> =>
  (await shakeHands(`${origin}/ws/live?token=${token}${query}`)).status

const start = (t: Parameters<typeof startSockets>[0], settings: Parameters<typeof startSockets>[2] = {}) =>
  startSockets(t, {}, settings)

test('an address with too many failures gets 429 for wrong tokens, but a right token connects', async (t) => {
  const fixture = await start(t, { failedHandshakesPerMinute: 3 })
  const live = fixture.lifecycle.add({}, { listenerToken: 'l'.repeat(32), senderToken: 's'.repeat(32) })
  for (let n = 0; n < 3; n += 1) t.is(await statusOf(fixture, WRONG_TOKEN), 401)
  for (let n = 0; n < 3; n += 1) {
    t.is(await statusOf(fixture, WRONG_TOKEN), 429)
    t.is(await statusOf(fixture, live.listenerToken), 101)
  }
  t.is(await statusOf(fixture, live.senderToken), 101)
})

test('a guessable token gets 429 from a blocked address, unless it connected from there before', async (t) => {
  const fixture = await start(t, { failedHandshakesPerMinute: 3 })
  const [connected, fresh] = [fixture.lifecycle.add(), fixture.lifecycle.add()]
  t.is(await statusOf(fixture, connected.listenerToken), 101)
  for (let n = 0; n < 3; n += 1) t.is(await statusOf(fixture, `guess-${n}`), 401)
  t.is(await statusOf(fixture, fresh.listenerToken), 429, 'a right guess gets no other answer than a wrong guess')
  t.is(await statusOf(fixture, connected.listenerToken), 101)
  fixture.timers.advance(60_000)
  t.is(await statusOf(fixture, fresh.listenerToken), 101)
})

test('parallel guesses of short tokens get no more answers than sequential guesses', async (t) => {
  const inner = createMemoryLifecycle()
  const live = inner.add()
  const lookups: Array<string> = []
  const storeAnswers = new AbortController()
  // The store answers after all tokens were looked up. It answers for the right token last.
  const resolveToken: typeof inner.resolveToken = async (token, liveId, mayReadLog) => {
    lookups.push(token)
    if (!storeAnswers.signal.aborted) await once(storeAnswers.signal, 'abort')
    if (token === live.listenerToken) await eventually(() => assert.equal(answeredGuesses, 10))
    return inner.resolveToken(token, liveId, mayReadLog)
  }
  const fixture = await startSockets(t, {}, { failedHandshakesPerMinute: 3 }, { resolveToken })
  let answeredGuesses = 0
  const guess = async (n: number): Promise<number> => {
    const status = await statusOf(fixture, `guess-${n}`)
    answeredGuesses += 1
    return status
  }
  const guesses = Array.from({ length: 10 }, (_, n) => guess(n))
  const right = statusOf(fixture, live.listenerToken)
  await eventually(() => assert.equal(lookups.length, 11))
  storeAnswers.abort()
  t.is((await Promise.all(guesses)).filter((status) => status === 401).length, 3)
  t.is(await right, 429)
})

test('for an address with too many wrong tokens the log is not read, and unlisted tokens get 429', async (t) => {
  const inner = createMemoryLifecycle()
  const live = inner.add({}, { listenerToken: 'l'.repeat(32) })
  let reads = 0
  const resolveToken: typeof inner.resolveToken = async (token, liveId, mayReadLog) => {
    if (token === live.listenerToken) return inner.resolveToken(token, liveId, mayReadLog)
    if (!mayReadLog()) return E.left({ _tag: 'TooManyRequests', seconds: 60 })
    reads += 1
    return E.right(O.none)
  }
  const settings = { failedHandshakesPerMinute: 3, trustedProxies: ['127.0.0.0/8'] }
  const fixture = await startSockets(t, {}, settings, { resolveToken })
  const shake = (token: string, from: string) =>
    shakeHands(`${fixture.origin}/ws/live/1?token=${token}`, { 'X-Forwarded-For': from })
  for (let n = 0; n < 3; n += 1) t.is((await shake(WRONG_TOKEN, '192.0.2.1')).status, 401)
  for (let n = 0; n < 5; n += 1) {
    const refused = await shake(WRONG_TOKEN, '192.0.2.1')
    t.is(refused.status, 429)
    t.is(refused.headers['retry-after'], '60')
  }
  t.is(reads, 3)
  t.is((await shake(WRONG_TOKEN, '192.0.2.2')).status, 401)
  t.is((await shake(live.listenerToken, '192.0.2.1')).status, 101, 'a listed token needs no log')
})

test('an address may open 2,000 handshakes to a session at once, then 100 a second', async (t) => {
  const fixture = await start(t, { failedHandshakesPerMinute: 30, trustedProxies: ['127.0.0.0/8'] })
  const [busy, other] = [fixture.lifecycle.add(), fixture.lifecycle.add()]
  const shake = async (token: string, from: string) =>
    shakeHands(`${fixture.origin}/ws/live?token=${token}&after=0`, { 'X-Forwarded-For': from })
  for (let n = 0; n < 50; n += 1) {
    const answers = await Promise.all(Array.from({ length: 40 }, () => shake(busy.listenerToken, '192.0.2.1')))
    t.true(answers.every(({ status }) => status === 101))
  }
  const refused = await shake(busy.listenerToken, '192.0.2.1')
  t.is(refused.status, 429)
  t.is(refused.headers['retry-after'], '1')
  t.is((await shake(busy.senderToken, '192.0.2.1')).status, 101, 'senders have their own limit')
  t.is((await shake(other.listenerToken, '192.0.2.1')).status, 101)
  t.is((await shake(busy.listenerToken, '192.0.2.2')).status, 101)
  fixture.timers.advance(50)
  const later = await Promise.all(Array.from({ length: 10 }, () => shake(busy.listenerToken, '192.0.2.1')))
  t.is(later.filter(({ status }) => status === 101).length, 5)
})

test('listeners cannot use the socket places kept for senders, and a refused sender frees its place', async (t) => {
  const fixture = await start(t, { maxSockets: 3, senderSlots: 1 })
  const live = fixture.lifecycle.add()
  const [first] = [await fixture.listener(live), await fixture.listener(live)]
  t.is(await statusOf(fixture, live.listenerToken), 429)
  const sender = await fixture.sender(live)
  await sender.frame(({ type }) => type === 'connection')
  t.is(await statusOf(fixture, live.senderToken), 429, 'all places are taken')
  first.close()
  await first.closed
  await eventually(async () => assert.equal(await statusOf(fixture, live.senderToken), 101))
})

test('a second sender of a session cannot use the socket places kept for senders', async (t) => {
  const fixture = await start(t, { maxSockets: 4, senderSlots: 2 })
  const live = fixture.lifecycle.add()
  await Promise.all([fixture.listener(live), fixture.listener(live)])
  const sender = await fixture.sender(live)
  await sender.frame(({ type }) => type === 'connection')
  t.is(await statusOf(fixture, live.senderToken), 429)
  const other = await fixture.sender(fixture.lifecycle.add())
  await other.frame(({ type }) => type === 'connection')
  t.pass()
})

test('a refused or malformed handshake frees its place for another socket', async (t) => {
  const fixture = await start(t, { maxSockets: 2, senderSlots: 1 })
  const live = fixture.lifecycle.add()
  for (const token of [live.senderToken, live.listenerToken])
    for (let n = 0; n < 3; n += 1) {
      const url = `${fixture.origin}/ws/live?token=${token}`
      t.is((await shakeHands(url, { 'Sec-WebSocket-Key': 'too short' })).status, 400)
    }
  await Promise.all([fixture.listener(live), fixture.sender(live)])
  t.pass()
})

test('RATE_LIMIT=0 turns the handshake limits off', async (t) => {
  const fixture = await start(t, { failedHandshakesPerMinute: 3, rateLimits: false })
  const live = fixture.lifecycle.add()
  for (let n = 0; n < 10; n += 1) t.is(await statusOf(fixture, `guess-${n}`), 401)
  t.is(await statusOf(fixture, live.listenerToken), 101)
})

test('a malformed handshake is 400 with a detail, the request id and the known versions', async (t) => {
  const { origin, lifecycle } = await startSockets(t)
  const url = `${origin}/ws/live?token=${lifecycle.add().senderToken}`
  for (const [header, value] of [
    ['Sec-WebSocket-Key', 'short'],
    ['Sec-WebSocket-Version', ''],
    ['Sec-WebSocket-Version', '7'],
    ['Sec-WebSocket-Protocol', ',,'],
  ] as const) {
    const { status, headers, body } = await shakeHands(url, { [header]: value, 'X-Request-ID': 'mine' })
    t.is(status, 400, header)
    t.regex((JSON.parse(body) as { readonly detail: string }).detail, new RegExp(header))
    t.is(headers['content-type'], 'application/json; charset=utf-8')
    t.is(headers['x-request-id'], 'mine')
    t.is(headers['sec-websocket-version'], '13, 8')
  }
  t.is((await shakeHands(url)).status, 101)
})
