import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { createStreamCache } from '../../../../application/log/stream-cache.ts'
import { createLruCache } from '../../../../application/lru-cache.ts'

/** Opens a cached stream. A load waits for `answer` and returns the state from the start of the load. */
const openStream = (maxStreams = 10) => {
  let state = 0
  const loads: Array<() => void> = []
  const { get, forget } = createStreamCache<'unavailable', number>({
    maxStreams,
    load: () => {
      const read = state
      return new Promise((resolve) => loads.push(() => resolve(E.right(read))))
    },
    isWorthKeeping: (value) => value >= 0,
  })
  return {
    read: () => get('stream'),
    answer: (): void => loads.splice(0).forEach((load) => load()),
    /** Changes the stream; the cache learns of it only by `reportChange`. */
    change: (to: number): void => { state = to },
    reportChange: () => forget('stream'),
    waiting: () => loads.length,
  }
}

const settled = async (): Promise<void> => { for (let turn = 0; turn < 5; turn++) await Promise.resolve() }

test('simultaneous queries share one load; later queries use its result', async (t) => {
  const stream = openStream()
  const queries = [stream.read(), stream.read()]
  t.is(stream.waiting(), 1)
  stream.answer()
  t.deepEqual(await Promise.all(queries), [E.right(0), E.right(0)])
  t.deepEqual(await stream.read(), E.right(0))
})

test('a result is not cached when a change was reported during its load, and later queries read again', async (t) => {
  const stream = openStream()
  const early = stream.read()
  stream.change(1)
  stream.reportChange()
  const late = stream.read()
  t.is(stream.waiting(), 2)
  stream.answer()
  t.deepEqual(await Promise.all([early, late]), [E.right(0), E.right(1)])
  t.deepEqual(await stream.read(), E.right(1))
})

test('a result read before a reported change is never cached, even without a query in between', async (t) => {
  const stream = openStream()
  const early = stream.read()
  stream.change(1)
  stream.reportChange()
  stream.answer()
  t.deepEqual(await early, E.right(0))
  const late = stream.read()
  stream.answer()
  t.deepEqual(await late, E.right(1))
})

test('an uncacheable or failed result is loaded each time', async (t) => {
  const answers = [E.left('unavailable' as const), E.right(-1), E.right(7), E.right(8)]
  const load = async () => answers.shift() ?? E.left('unavailable' as const)
  const { get } = createStreamCache({ maxStreams: 1, load, isWorthKeeping: (value) => value > 0 })
  const results: Array<unknown> = []
  for (const _ of [1, 2, 3, 4]) results.push(await get('stream'))
  t.deepEqual(results, [E.left('unavailable'), E.right(-1), E.right(7), E.right(7)])
})

test('a defect of a load is reported to its caller, and the next query loads again', async (t) => {
  let isBroken = true
  const load = async () => {
    if (isBroken) throw new Error('broken')
    return E.right(1)
  }
  const { get } = createStreamCache<never, number>({ maxStreams: 1, load, isWorthKeeping: () => true })
  await t.throwsAsync(get('stream'), { message: 'broken' })
  isBroken = false
  t.deepEqual(await get('stream'), E.right(1))
})

test('for any order of queries, changes and answers no query gets a state older than its start', async (t) => {
  const steps = fc.array(fc.constantFrom('read', 'change', 'report', 'answer'), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(steps, async (order) => {
      const stream = openStream()
      let [written, reported] = [0, 0]
      const answers: Array<Promise<void>> = []
      for (const step of order) {
        if (step === 'change') stream.change((written += 1))
        if (step === 'report') {
          stream.reportChange()
          reported = written
        }
        if (step === 'answer') stream.answer()
        if (step === 'read') {
          const atLeast = reported
          answers.push(
            stream.read().then((answer) => {
              if (E.isLeft(answer) || answer.right < atLeast)
                throw new Error(`answered ${JSON.stringify(answer)} after ${atLeast} was reported`)
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
