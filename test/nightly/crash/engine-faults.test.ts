import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { POISON } from '../../support/fixtures/engine/crash-on-poison.ts'
import {
  SHEEP, SIMON, hasEnded, marked, openEngine, sheep, simon, textOf, transcribe,
} from '../../support/engine/test-engine.ts'
import { FREEZES, HANGS, SLOW, SLOW_MS } from '../../support/fixtures/engine/stall.ts'

test('jobs in flight when the engine process dies still return their texts', async (t) => {
  const { engine, logger } = openEngine(t)
  await engine.load('demo-en')
  const first = engine.pid()
  const jobs = Array.from({ length: 6 }, async (_, index) => transcribe(engine, index % 2 === 0 ? simon : sheep))
  if (first !== undefined) process.kill(first, 'SIGSEGV')
  const texts = (await Promise.all(jobs)).map(textOf)
  t.deepEqual(texts, texts.map((_, index) => (index % 2 === 0 ? SIMON : SHEEP)))
  t.not(engine.pid(), first)
  t.true(logger.lines.some(({ message, fields }) => message === 'engine process died' && fields['inFlight'] === 6))
})

test('only the job that kills the process fails', async (t) => {
  const { engine } = openEngine(t, { fixture: 'crash-on-poison' })
  await engine.load('demo-en')
  const [before, crashed, after] = await Promise.all([
    transcribe(engine, simon), transcribe(engine, marked(POISON)), transcribe(engine, sheep),
  ])
  t.is(textOf(before), SIMON)
  t.deepEqual(crashed, E.left({ _tag: 'JobFailed', reason: 'the engine process died during this task (SIGSEGV)' }))
  t.is(textOf(after), SHEEP)
  t.is(textOf(await transcribe(engine, simon)), SIMON)
})

for (const [name, mark, reason] of [
  [
    'a job that hangs its thread',
    HANGS,
    /^the engine process died during this task \(a task took longer than \d+ ms\)$/,
  ],
  [
    'a job that freezes the whole process',
    FREEZES,
    /^the engine process died during this task \(the process sent nothing for \d+ ms\)$/,
  ],
] as const) {
  test(`${name} is the only job that fails`, async (t) => {
    const { engine } = openEngine(t, {
      fixture: 'stall',
      limits: { detect: 5000, transcribe: 3000, load: 12_000, unmeasured: 3000 },
    })
    await engine.load('demo-en')
    const first = engine.pid() ?? 0
    const [before, stalled, after] = await Promise.all([
      transcribe(engine, simon),
      transcribe(engine, marked(mark)),
      transcribe(engine, sheep),
    ])
    t.is(textOf(before), SIMON)
    t.regex(E.isLeft(stalled) ? stalled.left.reason : '', reason)
    t.is(textOf(after), SHEEP)
    t.is(textOf(await transcribe(engine, simon)), SIMON)
    await eventually(async () => {
      if (!(await hasEnded(first))) throw new Error(`engine process ${first} still runs`)
    })
  })
}

test('the wait for a free thread does not count towards the time limit of a job', async (t) => {
  const limit = 4 * SLOW_MS
  const { engine, logger } = openEngine(t, {
    fixture: 'stall',
    limits: { detect: 5000, transcribe: limit, load: 60_000, unmeasured: limit },
  })
  await engine.load('demo-en')
  const first = engine.pid()
  const jobs = Array.from({ length: 6 }, async () => transcribe(engine, marked(SLOW)))
  t.deepEqual(new Set((await Promise.all(jobs)).map(textOf)), new Set([SIMON]))
  t.is(engine.pid(), first, JSON.stringify(logger.lines))
})

test('waiting jobs fail if the engine process never starts, and closing ends the attempts', async (t) => {
  const logger = createRecordingLogger()
  const engine = createSpeechEngine({ models: new Map(), workers: 1, logger, execArgv: ['--no-such-flag'] })
  const loaded = await engine.load('demo-en')
  t.like(loaded, { _tag: 'Left', left: { _tag: 'ModelLoadFailed', model: 'demo-en' } })
  t.regex(E.isLeft(loaded) ? loaded.left.reason : '', /does not start/)
  await engine.close()
  t.is(engine.pid(), undefined)
})
