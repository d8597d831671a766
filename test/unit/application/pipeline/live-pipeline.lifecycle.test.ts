import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import test from 'ava'
import { createLags } from '../../../../application/pipeline/lags.ts'
import { createLivePipeline } from '../../../../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../../../../application/pipeline/scheduler.ts'
import { SAMPLE_RATE } from '../../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS as settings } from '../../../../domain/live/settings.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { collectEvents, heldTimers, pipelineOf, spokenWords } from '../../../support/pipeline/pipeline-driver.ts'
import { scriptedAudio } from '../../../support/doubles/scripted/script.ts'
import { scriptedEngine } from '../../../support/doubles/scripted/engine.ts'
import { eventLoopTurns } from '../../../support/pipeline/pipeline-stream.ts'

test('audio from before the model was loaded is transcribed, even if no more follows', async (t) => {
  const words = spokenWords('early words')
  const { finals, events, drained } = collectEvents()
  const pipeline = pipelineOf(scriptedEngine({ words }), events)
  pipeline.push(scriptedAudio(words, 2))
  t.true(pipeline.backlogSeconds() > 2)
  await pipeline.start()
  await eventually(() => assert.equal(finals[0]?.text, 'early words'))
  await eventually(() => assert.ok(pipeline.backlogSeconds() < 0.1))
  t.true(drained() > 0)
})

test('audio pushed in the same tick as the start is transcribed', async (t) => {
  const words = spokenWords('same turn')
  const { finals, events } = collectEvents()
  const pipeline = pipelineOf(scriptedEngine({ words }), events)
  await pipeline.start()
  pipeline.push(scriptedAudio(words, 2))
  await eventually(() => assert.equal(finals[0]?.text, 'same turn'))
  t.pass()
})

test('settings may change until the first audio, and segment numbers continue from the given number', async (t) => {
  const words = spokenWords('one two three')
  const { finals, partials, events } = collectEvents()
  const pipeline = pipelineOf(scriptedEngine({ words }), events, { nextSegment: 42 })
  pipeline.configure({ ...settings, mode: 'final', max_chars: 3 })
  await pipeline.start()
  pipeline.push(new Int16Array(0))
  pipeline.configure({ ...settings, mode: 'final', max_chars: 5, max_lines: 1 })
  pipeline.push(scriptedAudio(words, 1))
  pipeline.configure(settings)
  await pipeline.finish(10_000)
  t.deepEqual(finals.map(({ segment, text }) => [segment, text]), [[42, 'one'], [43, 'two'], [44, 'three']])
  t.deepEqual(partials, [])
})

test('wherever another process continues a session, no word is split, lost or repeated', async (t) => {
  const text = 'alpha beta gamma delta epsilon zeta'
  const words = spokenWords(text)
  const audio = scriptedAudio(words, 2)
  const transcribe = async (samples: Int16Array, isContinued: boolean) => {
    const { finals, events, failures } = collectEvents()
    const pipeline = pipelineOf(scriptedEngine({ words, hasWordTimes: true }), events)
    await pipeline.start()
    pipeline.push(samples)
    await eventLoopTurns(20)
    await pipeline.finish(10_000, isContinued)
    t.deepEqual(failures, [])
    return { texts: finals.map((final) => final.text), end: Math.round((finals.at(-1)?.end ?? 0) * SAMPLE_RATE) }
  }
  let cuts = 0
  for (let cut = SAMPLE_RATE / 20; cut < audio.length; cut += SAMPLE_RATE / 20) {
    const first = await transcribe(audio.slice(0, cut), true)
    const second = await transcribe(audio.slice(first.end), false)
    t.is([...first.texts, ...second.texts].join(' '), text, `cut at ${cut}`)
    cuts += first.texts.length > 0 ? 1 : 0
  }
  t.true(cuts > 20)
})

test('a model that does not load is reported to the caller of start, and finish returns', async (t) => {
  const { events, failures } = collectEvents()
  const missing = E.left({ _tag: 'ModelLoadFailed' as const, model: 'scripted', reason: 'gone' })
  const pipeline = pipelineOf({ ...scriptedEngine({ words: [] }), load: () => Promise.resolve(missing) }, events)
  t.deepEqual(await pipeline.start(), missing)
  await pipeline.finish(10_000)
  t.deepEqual(failures, [])
})

test('a failed job ends the session once', async (t) => {
  const words = spokenWords('one two three four five six')
  const { finals, failures, events } = collectEvents()
  const engine = scriptedEngine({ words, transcribe: () => E.left({ _tag: 'JobFailed', reason: 'broken' }) })
  const pipeline = pipelineOf(engine, events)
  await pipeline.start()
  pipeline.push(scriptedAudio(words, 2))
  await pipeline.finish(10_000)
  pipeline.push(new Int16Array(16000))
  t.deepEqual(failures, ['JobFailed'])
  t.deepEqual(finals, [])
  t.is(engine.jobs.length, 1)
})

test('a failed detection loses nothing; repeated failures end the session', async (t) => {
  const words = spokenWords('one two three')
  let failing = 2
  const detect = (probabilities: Float32Array) => {
    failing -= 1
    return failing >= 0 ? E.left({ _tag: 'JobFailed' as const, reason: 'restarted' }) : E.right(probabilities)
  }
  const timers = heldTimers()
  const { finals, failures, events } = collectEvents()
  const pipeline = pipelineOf(scriptedEngine({ words, detect }), events, {}, timers)
  await pipeline.start()
  pipeline.push(scriptedAudio(words, 2))
  const letTimersRun = (): void => {
    for (const timer of timers.timers.splice(0)) timer.run()
  }
  await eventually(() => {
    letTimersRun()
    assert.equal(finals[0]?.text, 'one two three')
  })
  t.deepEqual(failures, [])
  failing = Infinity
  pipeline.push(new Int16Array(16000))
  await eventually(() => {
    letTimersRun()
    assert.deepEqual(failures, ['JobFailed'])
  })
})

test('finish waits for the engine up to its limit and sends the known text', async (t) => {
  const words = [...spokenWords('one two three'), ...spokenWords('never heard', 2)]
  const timers = heldTimers()
  let passes = 0
  const delay = (): Promise<void> => (passes > 2 ? new Promise(() => {}) : Promise.resolve())
  const engine = scriptedEngine({
    words,
    delay,
    transcribe: (hypothesis) => {
      passes += 1
      return E.right(hypothesis)
    },
  })
  const { finals, partials, events } = collectEvents()
  const pipeline = pipelineOf(engine, events, { settings: { ...settings, buffer_timeout: 10 } }, timers)
  await pipeline.start()
  for (const samples of [scriptedAudio(words).subarray(0, 19_000), scriptedAudio(words).subarray(19_000)]) {
    pipeline.push(samples)
    await eventLoopTurns(20)
  }
  passes = 3
  const done = pipeline.finish(30_000)
  await eventLoopTurns(20)
  t.true(partials.length > 0)
  for (const timer of timers.timers.filter(({ milliseconds }) => milliseconds < 30_000)) timer.run()
  await done
  t.true(finals.map(({ text }) => text).join(' ').startsWith('one two three'))
  t.is(timers.timers.length, 0)
})

test('after abort nothing is emitted, and a late answer changes nothing', async (t) => {
  const words = spokenWords('one two three four')
  const gate = Promise.withResolvers<void>()
  const { finals, partials, failures, events } = collectEvents()
  const pipeline = pipelineOf(scriptedEngine({ words, delay: () => gate.promise }), events)
  await pipeline.start()
  pipeline.push(scriptedAudio(words, 2))
  pipeline.abort()
  gate.resolve()
  await eventLoopTurns(20)
  await pipeline.finish(10_000)
  t.deepEqual([finals, partials, failures], [[], [], []])
  t.is(pipeline.backlogSeconds(), 0)
})

test('the lag is the age of the oldest unprocessed audio and disappears with the session', async (t) => {
  const words = spokenWords('late words')
  const engine = scriptedEngine({ words })
  const lags = createLags()
  const passLags: Array<number> = []
  lags.onPass((seconds) => passLags.push(seconds))
  let now = 1_000_000
  const monotonic = (): number => now
  const create = createLivePipeline({
    engine,
    scheduler: createScheduler(engine, monotonic),
    monotonic,
    timers: heldTimers(),
    lags,
  })
  const open = (liveId: number, events: ReturnType<typeof collectEvents>['events']) =>
    create({ liveId, model: 'scripted', language: 'en', settings, nextSegment: 1, events })
  const { finals, events } = collectEvents()
  const [late, idle] = [open(7, events), open(8, collectEvents().events)]
  late.push(scriptedAudio(words, 2))
  now += 2500
  late.push(new Int16Array(16_000))
  t.deepEqual(lags.current(), [2.5, 0])
  t.deepEqual([lags.of(7), lags.of(8), lags.of(9)], [2.5, 0, null])
  await late.start()
  await eventually(() => assert.equal(finals.length, 1))
  await eventually(() => assert.equal(lags.of(7), 0))
  t.is(passLags[0], 2.5)
  idle.abort()
  t.deepEqual([lags.of(8), lags.current().length], [null, 1])
  await late.finish(1000)
  t.deepEqual(lags.current(), [])
})
