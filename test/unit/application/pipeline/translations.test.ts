import test from 'ava'
import assert from 'node:assert/strict'
import type { Segment } from '../../../../application/pipeline/pipeline.ts'
import { createTranslations } from '../../../../application/pipeline/translations.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createScriptedTranslator } from '../../../support/doubles/scripted/translator.ts'

const BROKEN = { _tag: 'JobFailed', reason: 'broken' } as const
const segment = (number: number): Segment => ({
  segment: number,
  start: number,
  end: number + 0.5,
  text: `text ${number}`,
  caption: `text\n${number}`,
})

const start = (
  liveId = 1,
  targets = [{ model: 'en-es', from: 'en', to: 'es' }, { model: 'en-fr', from: 'en', to: 'fr' }],
) => {
  const translator = createScriptedTranslator()
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const translations = createTranslations({ engine: translator, monotonic: timers.monotonic, logger })
  const delivered: string[] = []
  const deliver = async ({ segment: number }: Segment, to: string, text: string): Promise<void> => {
    delivered.push(`${number} ${to} ${text}`)
  }
  const live = translations.ofLive({ liveId, targets, deliver })
  const waitFor = (jobs: number): Promise<void> => eventually(() => assert.equal(translator.open().length, jobs))
  return { translator, timers, logger, translations, delivered, deliver, live, waitFor }
}

test('each final gives one job for each target, in order and one at a time', async (t) => {
  const { translator, delivered, live, waitFor } = start()
  live.add(segment(1), 'en')
  live.add(segment(2), 'en')
  t.deepEqual(translator.open().map(({ text, model, from, to }) => [text, model, from, to]), [
    ['text 1', 'en-es', 'en', 'es'], ['text 1', 'en-fr', 'en', 'fr'],
  ])
  translator.answer('fr')
  await waitFor(2)
  translator.answer('fr')
  await eventually(() => assert.equal(delivered.length, 2))
  translator.answer('es')
  await waitFor(1)
  translator.answer('es')
  await live.settled()
  t.deepEqual(delivered, ['1 fr [fr: text 1]', '2 fr [fr: text 2]', '1 es [es: text 1]', '2 es [es: text 2]'])
})

test('each of two sessions has one job in the translator, even if the other session has a long queue', async (t) => {
  const { translator, translations, live, deliver } = start(1, [{ model: 'en-es', from: 'en', to: 'es' }])
  for (let number = 1; number <= 50; number += 1) live.add(segment(number), 'en')
  translations
    .ofLive({ liveId: 2, targets: [{ model: 'en-es', from: 'en', to: 'es' }], deliver })
    .add(segment(99), 'en')
  t.deepEqual(translator.open().map(({ text }) => text), ['text 1', 'text 99'])
})

test('a failed job is skipped and logged once until the translator works again', async (t) => {
  const { translator, delivered, live, logger, translations, waitFor } = start(1, [
    { model: 'en-es', from: 'en', to: 'es' },
  ])
  for (const number of [1, 2, 3, 4]) live.add(segment(number), 'en')
  for (const failure of [BROKEN, BROKEN, undefined, BROKEN]) {
    await waitFor(1)
    translator.answer('es', failure)
  }
  await live.settled()
  t.deepEqual(delivered, ['3 es [es: text 3]'])
  t.deepEqual(logger.lines.map(({ level, message }) => [level, message]), [
    ['warn', 'a translator fails'], ['info', 'a translator works again'], ['warn', 'a translator fails'],
  ])
  t.false(JSON.stringify(logger.lines).includes('text 1'), 'no text reaches the log')
  t.deepEqual(translations.figures(), { done: 1, failed: 3, dropped: 0, skipped: 0, waiting: 0, lagSeconds: 0 })
})

test('a slow translator skips the oldest waiting segments, counts them and logs this once', async (t) => {
  const { translator, delivered, live, logger, translations, waitFor } = start(1, [
    { model: 'en-es', from: 'en', to: 'es' },
  ])
  for (let number = 1; number <= 100; number += 1) live.add(segment(number), 'en')
  const { waiting, skipped } = translations.figures()
  t.is(waiting + skipped, 100)
  t.is(waiting, 60)
  for (let answered = 0; answered < waiting; answered += 1) {
    await waitFor(1)
    translator.answer('es')
  }
  await live.settled()
  const numbers = delivered.map((line) => Number(line.split(' ')[0]))
  t.deepEqual(
    numbers,
    [1, ...Array.from({ length: 59 }, (_, n) => 42 + n)],
    'the running job, then the newest segments',
  )
  t.deepEqual(logger.lines.map(({ message }) => message), ['a translator is behind and skips segments'])
  t.deepEqual(translations.figures(), { done: 60, failed: 0, dropped: 0, skipped: 40, waiting: 0, lagSeconds: 0 })
})

test('a failed delivery costs only its own segment', async (t) => {
  const { translator, translations, waitFor } = start()
  const delivered: number[] = []
  const live = translations.ofLive({
    liveId: 3, targets: [{ model: 'en-es', from: 'en', to: 'es' }],
    deliver: async ({ segment: number }) => {
      if (number === 1) throw new Error('gone')
      delivered.push(number)
    },
  })
  live.add(segment(1), 'en')
  live.add(segment(2), 'en')
  translator.answer()
  await waitFor(1)
  translator.answer()
  await live.settled()
  t.deepEqual(delivered, [2])
})

test('a stop cancels all waiting work', async (t) => {
  const { translator, delivered, live, translations, timers } = start(1, [{ model: 'en-es', from: 'en', to: 'es' }])
  live.add(segment(1), 'en')
  timers.advance(1500)
  live.add(segment(2), 'en')
  t.like(translations.figures(), { waiting: 2, lagSeconds: 1.5 })
  const settled = live.settled()
  live.stop()
  await settled
  translator.answer()
  await live.settled()
  live.add(segment(3), 'en')
  t.deepEqual(delivered, [])
  t.is(translator.jobs.length, 1)
  t.deepEqual(translations.figures(), { done: 0, failed: 0, dropped: 2, skipped: 0, waiting: 0, lagSeconds: 0 })
})

test('prepare loads each translator; without targets it does nothing', async (t) => {
  const { translator, live, translations, deliver } = start()
  live.prepare()
  t.deepEqual(translator.loads, ['en-es', 'en-fr'])
  const withoutTargets = translations.ofLive({ liveId: 9, targets: [], deliver })
  withoutTargets.prepare()
  withoutTargets.add(segment(1), 'en')
  await withoutTargets.settled()
  t.is(translator.jobs.length, 0)
})
