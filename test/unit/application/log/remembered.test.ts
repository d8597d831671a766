import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { createStreamCache } from '../../../../application/log/stream-cache.ts'
import { createLruCache } from '../../../../application/lru-cache.ts'

/** One stream whose loads are answered when the test says so, by what it was when the load read it. */
const openStream = (most = 10) => {
  let state = 0
  const loads: Array<() => void> = []
  const { get: of, forget } = createStreamCache<'away', number>({
    maxStreams: most,
    load: () => () => {
      const read = state
      return new Promise((resolve) => loads.push(() => resolve(E.right(read))))
    },
    isWorthKeeping: (value) => value >= 0,
  })
  return {
    ask: () => of('stream')(),
    answer: (): void => loads.splice(0).forEach((load) => load()),
    /** Somebody appends; whoever follows the log hears of it later. */
    change: (to: number): void => { state = to },
    hear: () => forget('stream'),
    waiting: () => loads.length,
  }
}

const settled = async (): Promise<void> => { for (let turn = 0; turn < 5; turn++) await Promise.resolve() }

test('simultaneous queries share one load, later ones need none', async (t) => {
  const stream = openStream()
  const asked = [stream.ask(), stream.ask()]
  t.is(stream.waiting(), 1)
  stream.answer()
  t.deepEqual(await Promise.all(asked), [E.right(0), E.right(0)])
  t.deepEqual(await stream.ask(), E.right(0))
})

test('a change during a load forbids caching its result, and later queries read again', async (t) => {
  const stream = openStream()
  const early = stream.ask()
  stream.change(1)
  stream.hear()
  const late = stream.ask()
  t.is(stream.waiting(), 2)
  stream.answer()
  t.deepEqual(await Promise.all([early, late]), [E.right(0), E.right(1)])
  t.deepEqual(await stream.ask(), E.right(1))
})

test('a result read before a known change is never cached, even without a query since', async (t) => {
  const stream = openStream()
  const early = stream.ask()
  stream.change(1)
  stream.hear()
  stream.answer()
  t.deepEqual(await early, E.right(0))
  const late = stream.ask()
  stream.answer()
  t.deepEqual(await late, E.right(1))
})

test('an uncacheable or failed result is loaded each time', async (t) => {
  const answers = [E.left('away' as const), E.right(-1), E.right(7), E.right(8)]
  const load = () => async () => answers.shift() ?? E.left('away' as const)
  const { get: of } = createStreamCache({ maxStreams: 1, load, isWorthKeeping: (value) => value > 0 })
  const asked: Array<unknown> = []
  for (const _ of [1, 2, 3, 4]) asked.push(await of('stream')())
  t.deepEqual(asked, [E.left('away'), E.right(-1), E.right(7), E.right(7)])
})

test('a defect of a load is reported to its caller, and the next query loads again', async (t) => {
  let isBroken = true
  const load = () => async () => {
    if (isBroken) throw new Error('broken')
    return E.right(1)
  }
  const { get: of } = createStreamCache<never, number>({ maxStreams: 1, load, isWorthKeeping: () => true })
  await t.throwsAsync(of('stream')(), { message: 'broken' })
  isBroken = false
  t.deepEqual(await of('stream')(), E.right(1))
})

test('for any order of queries, changes and answers no query gets a state older than itself', async (t) => {
  const steps = fc.array(fc.constantFrom('ask', 'change', 'hear', 'answer'), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(steps, async (order) => {
      const stream = openStream()
      let [written, heard] = [0, 0]
      const answers: Array<Promise<void>> = []
      for (const step of order) {
        if (step === 'change') stream.change((written += 1))
        if (step === 'hear') {
          stream.hear()
          heard = written
        }
        if (step === 'answer') stream.answer()
        if (step === 'ask') {
          const atLeast = heard
          answers.push(
            stream.ask().then((told) => {
              if (E.isLeft(told) || told.right < atLeast)
                throw new Error(`told ${JSON.stringify(told)}, heard ${atLeast}`)
            }),
          )
        }
        await settled()
      }
      stream.answer()
      await Promise.all(answers)
    }),
  )
  t.pass()
})

test('the cache keeps the most recently used entries up to its size', (t) => {
  const recent = createLruCache<string, number>(2)
  recent.set('a', 1)
  recent.set('b', 2)
  t.is(recent.get('a'), 1)
  recent.set('c', 3)
  t.deepEqual([recent.get('a'), recent.get('b'), recent.get('c')], [1, undefined, 3])
  recent.delete('a')
  t.is(recent.get('a'), undefined)
})
