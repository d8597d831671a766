import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, readdir, readlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Hypothesis, SpeechEngine } from '../../../application/ports/engine.ts'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { readWav } from '../../support/audio/wav.ts'
import { POISON } from '../../support/fixtures/engine/crash-on-poison.ts'
import { FREEZES, HANGS, SLOW, SLOW_MS } from '../../support/fixtures/engine/stall.ts'

const DEMO = 'models/demo-en'
const SIMON = 'Simon came easily in February.'
const SHEEP = 'Do not save the brave sheep.'

const simon = readWav('test/support/fixtures/engine/simon.wav')
const sheep = readWav('test/support/fixtures/engine/sheep.wav')
const marked = (mark: number): Int16Array => Int16Array.of(mark, ...simon.subarray(1))
const poison = marked(POISON)

const open = (
  t: ExecutionContext,
  options: {
    readonly models?: ReadonlyMap<string, string>
    readonly fixture?: 'crash-on-poison' | 'stall'
    readonly limits?: Parameters<typeof createSpeechEngine>[0]['limits']
  } = {},
) => {
  const logger = createRecordingLogger()
  const engine = createSpeechEngine({
    models: options.models ?? new Map([['demo-en', DEMO]]),
    workers: 2,
    logger,
    execArgv:
      options.fixture === undefined
        ? []
        : ['--import', new URL(`../../support/fixtures/engine/${options.fixture}.ts`, import.meta.url).href],
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  })
  t.teardown(engine.close)
  return { engine, logger }
}

const hear = async (engine: SpeechEngine, samples: Int16Array, model = 'demo-en') =>
  engine.transcribe({ model, language: 'en', samples })()

const textOf = (outcome: E.Either<unknown, Hypothesis>): string =>
  E.isLeft(outcome) ? JSON.stringify(outcome.left) : outcome.right.segments.map(({ text }) => text.trim()).join(' ')

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A zombie still takes signals: of a process whose parent is gone, only /proc tells whether it runs. */
const hasEnded = async (pid: number): Promise<boolean> =>
  !isAlive(pid) || (await readFile(`/proc/${pid}/stat`, 'utf8').then((stat) => / Z /.test(stat), () => true))

/** For tests that bring no process down. */
const sharedEngine = createSpeechEngine({
  models: new Map([['demo-en', DEMO]]),
  workers: 2,
  logger: createRecordingLogger(),
})
test.after.always(() => sharedEngine.close())

test('the model that ships transcribes synthetic speech through the engine process', async (t) => {
  t.is(sharedEngine.deviceOf('demo-en').lanes, 2)
  t.deepEqual(await sharedEngine.load('demo-en')(), E.right({ windowSeconds: 10 }))
  t.is(textOf(await hear(sharedEngine, simon)), SIMON)
  t.is(textOf(await hear(sharedEngine, sheep)), SHEEP)
})

test('jobs of several sessions do not mix', async (t) => {
  const jobs = Array.from({ length: 8 }, (_, index) => hear(sharedEngine, index % 2 === 0 ? simon : sheep))
  const texts = (await Promise.all(jobs)).map(textOf)
  t.deepEqual(texts, texts.map((_, index) => (index % 2 === 0 ? SIMON : SHEEP)))
})

test('speech is detected in whole audio, frame by frame, and for two sessions in turn', async (t) => {
  const detect = async (samples: Int16Array, state: Float32Array | null) => {
    const outcome = await sharedEngine.detectSpeech(samples, state)()
    if (E.isLeft(outcome)) throw new Error(outcome.left.reason)
    return outcome.right
  }
  const speech = simon.subarray(0, simon.length - (simon.length % 512))
  const whole = (await detect(speech, null)).probabilities
  t.true(whole.filter((probability) => probability > 0.5).length > whole.length / 2)
  const silent = (await detect(new Int16Array(speech.length), null)).probabilities
  t.true(silent.every((probability) => probability < 0.2))

  let state: Float32Array | null = null
  let other: Float32Array | null = null
  for (let frame = 0; frame < whole.length; frame++) {
    const heard = await detect(speech.subarray(frame * 512, (frame + 1) * 512), state)
    const otherHeard = await detect(new Int16Array(512), other)
    t.is(heard.probabilities[0], whole[frame])
    t.is(otherHeard.probabilities[0], silent[frame])
    state = heard.state
    other = otherHeard.state
  }
  // Both parts of the state count: what was heard before, and the samples right before the frame.
  const middle = speech.subarray(512 * 20, 512 * 21)
  t.not((await detect(middle, null)).probabilities[0], whole[20])
  const context = Float32Array.from({ length: state?.length ?? 0 }, (_, i) => (i < 256 ? 0 : (state?.[i] ?? 0)))
  t.notDeepEqual((await detect(middle, context)).probabilities, (await detect(middle, state)).probabilities)
  const uneven = await sharedEngine.detectSpeech(new Int16Array(500), null)()
  t.deepEqual(uneven, E.left({ _tag: 'JobFailed', reason: '500 samples are not a multiple of the frame length 512' }))
})

test('an invalid job fails alone', async (t) => {
  const french = sharedEngine.transcribe({ model: 'demo-en', language: 'fr', samples: simon })
  const [wrong, right] = await Promise.all([french(), hear(sharedEngine, simon)])
  t.deepEqual(wrong, E.left({ _tag: 'JobFailed', reason: 'the model does not know the language fr' }))
  t.is(textOf(right), SIMON)
})

test('a cancelled job has no text, and other jobs have theirs', async (t) => {
  const callOff = new AbortController()
  const jobs = Array.from({ length: 4 }, () =>
    sharedEngine.transcribe({ model: 'demo-en', language: 'en', samples: simon }, callOff.signal)(),
  )
  const beside = hear(sharedEngine, simon)
  callOff.abort()
  for (const outcome of await Promise.all(jobs))
    t.deepEqual(outcome, E.left({ _tag: 'JobFailed', reason: 'it was cancelled' }))
  t.is(textOf(await beside), SIMON)
})

test('a truncated or missing model fails to load and is tried again, and others run [F11]', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  await cp(DEMO, directory.path, { recursive: true })
  await truncate(join(directory.path, 'onnx/decoder_with_past_model_quantized.onnx'), 700_000)
  const missing = join(directory.path, 'nowhere')
  const { engine } = open(t, {
    models: new Map([
      ['demo-en', DEMO],
      ['damaged', directory.path],
      ['missing', missing],
    ]),
  })

  for (const model of ['damaged', 'missing', 'unheard-of']) {
    const [loaded, job, other] = await Promise.all([
      engine.load(model)(),
      hear(engine, simon, model),
      hear(engine, simon),
    ])
    t.like(loaded, { _tag: 'Left', left: { _tag: 'ModelLoadFailed', model } })
    t.like(job, { _tag: 'Left', left: { _tag: 'ModelLoadFailed', model } })
    t.is(textOf(other), SIMON)
  }
  await cp(DEMO, directory.path, { recursive: true })
  t.deepEqual(await engine.load('damaged')(), E.right({ windowSeconds: 10 }))
  t.is(textOf(await hear(engine, sheep, 'damaged')), SHEEP)
})

test('jobs in flight when the engine process dies get their text [F13]', async (t) => {
  const { engine, logger } = open(t)
  await engine.load('demo-en')()
  const first = engine.pid()
  const jobs = Array.from({ length: 6 }, async (_, index) => hear(engine, index % 2 === 0 ? simon : sheep))
  if (first !== undefined) process.kill(first, 'SIGSEGV')
  const texts = (await Promise.all(jobs)).map(textOf)
  t.deepEqual(texts, texts.map((_, index) => (index % 2 === 0 ? SIMON : SHEEP)))
  t.not(engine.pid(), first)
  t.true(logger.lines.some(({ message, fields }) => message === 'engine process died' && fields['inFlight'] === 2))
})

test('only the job that kills the process fails [F13]', async (t) => {
  const { engine } = open(t, { fixture: 'crash-on-poison' })
  await engine.load('demo-en')()
  const [before, crashed, after] = await Promise.all([hear(engine, simon), hear(engine, poison), hear(engine, sheep)])
  t.is(textOf(before), SIMON)
  t.deepEqual(crashed, E.left({ _tag: 'JobFailed', reason: 'it brought the engine process down (SIGSEGV)' }))
  t.is(textOf(after), SHEEP)
  t.is(textOf(await hear(engine, simon)), SIMON)
})

for (const [what, mark, reason] of [
  ['a job that hangs its thread', HANGS, /^it brought the engine process down \(a task took longer than \d+ ms\)$/],
  [
    'a job that freezes the whole process',
    FREEZES,
    /^it brought the engine process down \(it sent nothing for \d+ ms\)$/,
  ],
] as const) {
  test(`${what} fails alone, the others are answered [F13]`, async (t) => {
    const { engine } = open(t, {
      fixture: 'stall',
      limits: { detect: 5000, transcribe: 1000, load: 5000, unmeasured: 1000 },
    })
    await engine.load('demo-en')()
    const first = engine.pid() ?? 0
    const [before, stalled, after] = await Promise.all([
      hear(engine, simon),
      hear(engine, marked(mark)),
      hear(engine, sheep),
    ])
    t.is(textOf(before), SIMON)
    t.regex(E.isLeft(stalled) ? stalled.left.reason : '', reason)
    t.is(textOf(after), SHEEP)
    t.is(textOf(await hear(engine, simon)), SIMON)
    await eventually(async () => {
      if (!(await hasEnded(first))) throw new Error(`engine process ${first} still runs`)
    })
  })
}

test('the wait for a free thread does not count towards the limit of a job', async (t) => {
  const limit = 4 * SLOW_MS
  const { engine, logger } = open(t, {
    fixture: 'stall',
    limits: { detect: 5000, transcribe: limit, load: 60_000, unmeasured: limit },
  })
  await engine.load('demo-en')()
  const first = engine.pid()
  const jobs = Array.from({ length: 6 }, async () => hear(engine, marked(SLOW)))
  t.deepEqual(new Set((await Promise.all(jobs)).map(textOf)), new Set([SIMON]))
  t.is(engine.pid(), first, JSON.stringify(logger.lines))
})

test('waiting jobs fail if the engine process never starts, and closing ends the attempts', async (t) => {
  const logger = createRecordingLogger()
  const engine = createSpeechEngine({ models: new Map(), workers: 1, logger, execArgv: ['--no-such-flag'] })
  const loaded = await engine.load('demo-en')()
  t.like(loaded, { _tag: 'Left', left: { _tag: 'ModelLoadFailed', model: 'demo-en' } })
  t.regex(E.isLeft(loaded) ? loaded.left.reason : '', /does not start/)
  await engine.close()
  t.is(engine.pid(), undefined)
})

test('a terminal’s Ctrl-C does not end the engine; closing ends it and its waiting jobs', async (t) => {
  const { engine } = open(t)
  await engine.load('demo-en')()
  const pid = engine.pid() ?? 0
  process.kill(pid, 'SIGINT')
  process.kill(pid, 'SIGTERM')
  t.is(textOf(await hear(engine, simon)), SIMON)
  t.is(engine.pid(), pid)

  const job = hear(engine, simon)
  await engine.close()
  await engine.close()
  t.false(isAlive(pid))
  t.deepEqual(await job, E.left({ _tag: 'JobFailed', reason: 'the engine is closed' }))
  t.deepEqual(await hear(engine, simon), E.left({ _tag: 'JobFailed', reason: 'the engine is closed' }))
})

test('onnxruntime sends no telemetry: the engine process opens none of its telemetry files', async (t) => {
  const { engine } = open(t)
  await engine.load('demo-en')()
  const folder = `/proc/${engine.pid()}/fd`
  const files = await Promise.all((await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')))
  t.deepEqual(
    files.filter((file) => file.includes('.onnxruntime')),
    [],
  )
})

test('the engine process does not outlive a service that was killed', async (t) => {
  const owner = spawn(process.execPath, ['test/support/fixtures/engine/engine-owner.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string]
  const pid = Number(line)
  t.true(isAlive(pid))
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  await eventually(async () => {
    if (!(await hasEnded(pid))) throw new Error(`engine process ${pid} still runs`)
  })
  t.pass()
})
