import * as E from 'fp-ts/lib/Either.js'
import test from 'ava'
import fc from 'fast-check'
import { createScheduler } from '../../../../application/pipeline/scheduler.ts'
import type { Device, Hypothesis, TranscribeJob } from '../../../../application/ports/engine.ts'

const SILENCE: Hypothesis = { segments: [], avgLogprob: 0, noSpeechProb: 0, compressionRatio: 1 }
const jobOf = (model: string): TranscribeJob => ({ model, language: 'en', samples: new Int16Array(1) })

/** An engine with one CPU device. */
const onCpu = (lanes: number) => ({ deviceOf: (): Device => ({ name: 'cpu', lanes }) })

/** An engine whose jobs end when the test ends them. `running` lists the jobs in the order of arrival. */
const heldEngine = (lanes: number) => {
  const running: Array<{
    readonly model: string
    readonly signal: AbortSignal | undefined
    readonly end: () => void
    readonly crash: () => void
  }> = []
  const transcribe = (job: TranscribeJob, signal?: AbortSignal) =>
    new Promise<E.Either<never, Hypothesis>>((resolve, reject) => {
      const leave = (): void => void running.splice(running.findIndex(({ model }) => model === job.model), 1)
      const end = (): void => {
        leave()
        resolve(E.right(SILENCE))
      }
      const crash = (): void => {
        leave()
        reject(new Error('broken'))
      }
      running.push({ model: job.model, signal, end, crash })
    })
  return { running, engine: { ...onCpu(lanes), transcribe } }
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test("the job with the earliest deadline runs first, up to the engine's limit at once", async (t) => {
  const { running, engine } = heldEngine(2)
  const scheduler = createScheduler(engine, () => 0)
  const names = (): ReadonlyArray<string> => running.map(({ model }) => model)
  for (const [live, deadline] of [
    [1, 50],
    [2, 40],
    [3, 30],
    [4, 10],
    [5, 20],
  ] as const)
    void scheduler.transcribe(live, deadline, jobOf(`${live}`))
  t.deepEqual(names(), ['1', '2'])
  running[0]?.end()
  await settled()
  t.deepEqual(names(), ['2', '4'])
  running[0]?.end()
  await settled()
  t.deepEqual(names(), ['4', '5'])
})

const draftOf = (model: string): TranscribeJob => ({ ...jobOf(model), isDraft: true })

test('jobs for finals run before drafts, even before drafts with a short max_delay on a busy engine', async (t) => {
  const { running, engine } = heldEngine(1)
  let now = 0
  const scheduler = createScheduler(engine, () => now)
  for (const [live, deadline, job] of [
    [1, 500, draftOf('first')],
    [2, 500, draftOf('quick')],
    [3, 5000, jobOf('final')],
  ] as const)
    void scheduler.transcribe(live, deadline, job)
  const next = async (): Promise<string | undefined> => {
    running[0]?.end()
    await settled()
    return running[0]?.model
  }
  t.is(await next(), 'final')
  now = 3000
  void scheduler.transcribe(4, 5000, jobOf('behind'))
  t.is(await next(), 'behind')
  t.is(await next(), 'quick')
})

test('sessions that only request finals do not block the drafts of others', async (t) => {
  let now = 0
  const engine = {
    ...onCpu(1),
    transcribe: async () => {
      await settled()
      now += 500
      return E.right(SILENCE)
    },
  }
  const scheduler = createScheduler(engine, () => now)
  const turns = [0, 0, 0]
  const longest = [0, 0, 0]
  await Promise.all(turns.map(async (_, live) => {
    for (let submittedAt = 0; submittedAt < 120_000; submittedAt = now) {
      await scheduler.transcribe(live, now + 5000, live === 0 ? draftOf('drafts') : jobOf('finals'))
      longest[live] = Math.max(longest[live] ?? 0, now - submittedAt)
      turns[live] = (turns[live] ?? 0) + 1
    }
  }))
  t.true(Math.min(...turns) >= 10, turns.join())
  t.true(Math.max(...longest) <= 12_000, longest.join())
})

test('CPU jobs do not delay sessions on the GPU', async (t) => {
  const { running, engine } = heldEngine(1)
  const deviceOf = (model: string): Device => ({ name: model.startsWith('gpu') ? 'gpu' : 'cpu', lanes: 1 })
  const scheduler = createScheduler({ ...engine, deviceOf }, () => 0)
  for (const [live, name] of [[1, 'cpu 1'], [2, 'cpu 2'], [3, 'gpu 1'], [4, 'gpu 2']] as const)
    void scheduler.transcribe(live, live, jobOf(name))
  const names = (): ReadonlyArray<string> => running.map(({ model }) => model)
  t.deepEqual(names(), ['cpu 1', 'gpu 1'])
  running[1]?.end()
  await settled()
  t.deepEqual(names(), ['cpu 1', 'gpu 2'])
  scheduler.withdraw(2)
  running[0]?.end()
  await settled()
  t.deepEqual(names(), ['gpu 2'])
})

test('an ended session gets no answer; its running job is cancelled and its waiting job never runs', async (t) => {
  const { running, engine } = heldEngine(1)
  const scheduler = createScheduler(engine, () => 0)
  const first = scheduler.transcribe(1, 1, jobOf('first'))
  const second = scheduler.transcribe(2, 2, jobOf('second'))
  t.false(running[0]?.signal?.aborted)
  scheduler.withdraw(1)
  scheduler.withdraw(2)
  t.true(running[0]?.signal?.aborted)
  t.is(await first, null)
  t.is(await second, null)
  t.is(running.length, 1)
  running[0]?.end()
  await settled()
  t.is(running.length, 0)
})

test('a newer job of a session replaces its waiting job', async (t) => {
  const { running, engine } = heldEngine(1)
  const scheduler = createScheduler(engine, () => 0)
  void scheduler.transcribe(1, 1, jobOf('other'))
  const old = scheduler.transcribe(2, 2, jobOf('old'))
  void scheduler.transcribe(2, 3, jobOf('new'))
  t.is(await old, null)
  running[0]?.end()
  await settled()
  t.deepEqual(running.map(({ model }) => model), ['new'])
})

test('a defect of the engine affects only its own session', async (t) => {
  const { running, engine } = heldEngine(1)
  const scheduler = createScheduler(engine, () => 0)
  const broken = scheduler.transcribe(1, 1, jobOf('broken'))
  const fine = scheduler.transcribe(2, 2, jobOf('fine'))
  running[0]?.crash()
  await t.throwsAsync(broken, { message: 'broken' })
  running[0]?.end()
  t.deepEqual(await fine, E.right(SILENCE))
})

test('no session starves when all sessions submit jobs at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 500, max: 5000 }), { minLength: 2, maxLength: 12 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 400 }),
      async (maxDelays, parallelism, passMs) => {
        let now = 0
        const turns = maxDelays.map(() => 0)
        const engine = {
          ...onCpu(parallelism),
          transcribe: async () => {
            await settled()
            now += passMs / parallelism
            return E.right(SILENCE)
          },
        }
        const scheduler = createScheduler(engine, () => now)
        const rounds = 20 * maxDelays.length
        const waits: Array<number> = []
        await Promise.all(
          maxDelays.map(async (maxDelay, live) => {
            for (let total = 0; total < rounds; total = turns.reduce((sum, count) => sum + count, 0)) {
              const submittedAt = now
              await scheduler.transcribe(live, now + maxDelay, jobOf(`${live}`))
              waits.push(now - submittedAt - maxDelay)
              turns[live] = (turns[live] ?? 0) + 1
            }
          }),
        )
        // A job misses its deadline by at most the longest max_delay and one turn of all sessions.
        const bound = Math.max(...maxDelays) + (maxDelays.length + parallelism) * passMs
        if (waits.some((late) => late > bound))
          throw new Error(`waited ${Math.max(...waits)} ms beyond the deadline, bound ${bound}`)
        if (turns.includes(0)) throw new Error(`turns ${turns.join()}`)
      },
    ),
    { numRuns: 30 },
  )
  t.pass()
})

test('sessions on a too slow model share the remaining time and do not delay a light session', async (t) => {
  // Time is simulated: the one worker spends 1.5 s on a heavy job and 0.1 s on a light one.
  let now = 0
  const clock = (): number => now
  const engine = {
    ...onCpu(1),
    transcribe: async ({ model }: TranscribeJob) => {
      await settled()
      now += model === 'heavy' ? 1500 : 100
      return E.right(SILENCE)
    },
  }
  const scheduler = createScheduler(engine, clock)
  const turns = [0, 0, 0, 0, 0, 0]
  const heavy = turns.map(async (_, live) => {
    for (let due = 5000; clock() < 600_000; due += 1000) {
      await scheduler.transcribe(live, due, jobOf('heavy'))
      turns[live] = (turns[live] ?? 0) + 1
    }
  })
  let [longest, longestAfterStart] = [0, 0]
  const light = async (): Promise<void> => {
    for (let dueAt = 0; dueAt < 600_000; dueAt = Math.max(now, dueAt + 1000)) {
      while (clock() < dueAt) await settled()
      const began = now
      await scheduler.transcribe(9, began + 5000, jobOf('light'))
      longest = Math.max(longest, now - began)
      if (began > 60_000) longestAfterStart = Math.max(longestAfterStart, now - began)
    }
  }
  await Promise.all([...heavy, light()])
  t.true(longest <= turns.length * 1500 + 100, `a light job took ${longest} ms`)
  t.true(longestAfterStart <= 1500 + 100, `a light job took ${longestAfterStart} ms`)
  t.true(Math.max(...turns) - Math.min(...turns) <= 5, `turns ${turns.join()}`)
})
