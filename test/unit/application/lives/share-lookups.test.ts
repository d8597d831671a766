import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { ResolveToken } from '../../../../application/lives/queries/resolve-token.ts'
import { shareLookups } from '../../../../application/lives/queries/share-lookups.ts'
import type { LiveStatus } from '../../../../application/ports/read-models.ts'

type Answer = Awaited<ReturnType<ResolveToken>>

const found = (status: LiveStatus = 'active', liveId = 1): Answer =>
  E.right(O.some({ liveId, role: 'listener', status }))
const NONE: Answer = E.right(O.none)

/** Lookups that the test answers, in the order of `asked`. */
const start = () => {
  let now = 0
  const asked: Array<{ readonly token: string; readonly answer: (answer: Answer) => void }> = []
  const resolve: ResolveToken = (token) => new Promise((answer) => { asked.push({ token, answer }) })
  const shared = shareLookups(resolve, { monotonic: () => now })
  return {
    asked,
    wait: (ms: number) => { now += ms },
    lookUp: (token = 'hall', liveId: number | null = 1) => shared(token, liveId, () => true),
    settled: () => new Promise<void>((resolve_) => { setImmediate(resolve_) }),
  }
}

test('800 listeners of one token cost one lookup, and one more for those who come while it reads', async (t) => {
  const { asked, lookUp, settled } = start()
  const audience = Array.from({ length: 400 }, () => lookUp())
  await settled()
  t.is(asked.length, 1)
  audience.push(...Array.from({ length: 400 }, () => lookUp()))
  asked[0]?.answer(found())
  await settled()
  asked[1]?.answer(found())
  for (const answer of await Promise.all(audience)) t.deepEqual(answer, found())
  t.is(asked.length, 2)
  void lookUp()
  await settled()
  t.is(asked.length, 3, 'no answer is kept: the session may be deleted')
})

test('another session of the same token, and another token, have their own lookups', async (t) => {
  const { asked, lookUp, settled } = start()
  void lookUp('hall', 1)
  void lookUp('hall', 2)
  void lookUp('hall', null)
  void lookUp('other', 1)
  await settled()
  t.is(asked.length, 4)
})

for (const [name, answer, liveId] of [
  ['unknown token', NONE, 1], ['open session', found(), 1], ['open session without its id', found(), null],
] as const)
  test(`an ${name} is looked up again by everybody who came after the lookup had begun`, async (t) => {
    const { asked, lookUp, settled } = start()
    const first = lookUp('hall', liveId)
    await settled()
    const later = [lookUp('hall', liveId), lookUp('hall', liveId)]
    asked[0]?.answer(answer)
    t.deepEqual(await first, answer)
    await settled()
    t.is(asked.length, 2, 'they share the next lookup')
    asked[1]?.answer(found('pending'))
    for (const one of await Promise.all(later)) t.deepEqual(one, found('pending'))
  })

test('a lookup that has not begun is shared whatever it finds', async (t) => {
  const { asked, lookUp, settled } = start()
  for (let n = 0; n < 8; n += 1) void lookUp(`busy ${n}`)
  const waiting = [lookUp(), lookUp()]
  await settled()
  t.is(asked.length, 8, 'at most eight lookups run at a time')
  asked[0]?.answer(NONE)
  await settled()
  t.is(asked.length, 9)
  asked[8]?.answer(NONE)
  t.deepEqual(await Promise.all(waiting), [NONE, NONE])
  t.is(asked.length, 9)
})

test('after a wait of more than five seconds a lookup is refused instead of run', async (t) => {
  const { asked, lookUp, wait, settled } = start()
  for (let n = 0; n < 8; n += 1) void lookUp(`busy ${n}`)
  const late = lookUp()
  await settled()
  wait(5001)
  asked[0]?.answer(NONE)
  t.like(await late, { left: { _tag: 'DocumentsUnavailable' } })
  t.is(asked.length, 8)
})
