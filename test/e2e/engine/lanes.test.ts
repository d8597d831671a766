import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Hypothesis } from '../../../application/ports/engine.ts'
import { createLanes } from '../../../infrastructure/onnx/process/lanes.ts'
import type { Outcome, Task } from '../../../infrastructure/onnx/process/messages.ts'
import { createThreadPool } from '../../../infrastructure/onnx/process/thread-pool.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { readWav } from '../../support/audio/wav.ts'

const WORKER = new URL('../../../infrastructure/onnx/process/transcription-worker.ts', import.meta.url)
const MODEL = 'test/support/fixtures/engine/exact-whisper'

const simon = readWav('test/support/fixtures/engine/simon.wav')
const sheep = readWav('test/support/fixtures/engine/sheep.wav')

/** Keeps the test process alive, because the threads of a worker pool do not. */
const keepProcessAlive = (t: ExecutionContext): void => {
  const timer = setInterval(() => undefined, 60_000)
  t.teardown(() => clearInterval(timer))
}

const job = (samples: Int16Array, language = 'en'): Task => ({
  kind: 'transcribe',
  job: { model: 'tiny', language, samples },
  folder: MODEL,
})

/**
 * Returns the parts of an outcome that are equal in two passes over the same audio. Numbers are rounded, because a pass
 * over several recordings adds them in another order. The processor time is left out.
 */
const comparableOutcome = (outcome: Outcome): Outcome => {
  const replacer = (name: string, value: unknown): unknown => {
    if (name === 'busySeconds') return undefined
    return typeof value === 'number' ? Math.round(value * 1000) : value
  }
  return JSON.parse(JSON.stringify(outcome, replacer)) as Outcome
}

test('a pass on the CPU reports its processor time', async (t) => {
  keepProcessAlive(t)
  const pool = createThreadPool({ script: WORKER, size: () => 1, onDeath: (reason) => t.fail(reason) })
  const outcome = await pool.run(job(simon), () => undefined)
  const hypothesis = E.isRight(outcome) ? (outcome.right as Hypothesis) : undefined
  t.true((hypothesis?.busySeconds ?? 0) > 0)
})

test('a worker runs the waiting jobs of a model as one batch, and an invalid job harms no other job', async (t) => {
  keepProcessAlive(t)
  const deaths: Array<string> = []
  const begun: Array<number> = []
  const pool = createThreadPool({ script: WORKER, size: () => 1, batch: 4, onDeath: (reason) => deaths.push(reason) })
  const run = (tasks: ReadonlyArray<Task>): Promise<ReadonlyArray<Outcome>> =>
    Promise.all(tasks.map(async (task, index) => comparableOutcome(await pool.run(task, () => begun.push(index)))))
  const [ofSimon, ofSheep] = await run([job(simon)]).then(async ([first]) => [first, (await run([job(sheep)]))[0]])
  t.notDeepEqual(ofSimon, ofSheep)
  begun.length = 0

  // The idle worker begins the first job. The other jobs wait: four of them form a batch, then the rest follows.
  const load: Task = { kind: 'load', model: 'tiny', folder: MODEL }
  const outcomes = await run([job(simon), job(sheep), job(simon), load, job(sheep), job(simon), job(sheep)])
  t.deepEqual(outcomes.filter((_, index) => index !== 3), [ofSimon, ofSheep, ofSimon, ofSheep, ofSimon, ofSheep])
  t.deepEqual(begun, [0, 1, 2, 4, 5, 3, 6], 'waiting jobs of the same model form one batch')

  const [first, wrong, third] = (await run([job(sheep), job(simon), job(simon, 'xx'), job(sheep)])).slice(1)
  t.deepEqual([first, third], [ofSimon, ofSheep])
  t.true(wrong !== undefined && E.isLeft(wrong) && wrong.left.reason.includes('does not know the language xx'))
  t.deepEqual(deaths, [])
})

test('models with 8-bit weights, and models that do not load on the GPU, run on the CPU', async (t) => {
  keepProcessAlive(t)
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  await mkdir(join(directory.path, 'onnx'))
  const warnings: Array<string> = []
  // With or without a GPU, `cuda` fails here, because its library is not installed.
  const lanes = createLanes({
    script: WORKER,
    workers: () => 1,
    provider: 'cuda',
    onDeath: (reason) => t.fail(reason),
    warn: (line) => warnings.push(line),
  })
  const quantized = await lanes.run({ kind: 'load', model: 'demo-en', folder: 'models/demo-en' }, () => undefined)
  t.deepEqual(quantized, E.right({ windowSeconds: 10 }))
  const loaded = await lanes.run({ kind: 'load', model: 'tiny', folder: MODEL }, () => undefined)
  t.true(E.isRight(loaded) && typeof loaded.right === 'object' && loaded.right !== null && !('onGpu' in loaded.right))
  t.regex(warnings.join(), /^cuda failed at tiny, the CPU takes over: /)
  t.true(E.isRight(await lanes.run(job(simon), () => undefined)))
  const empty = await lanes.run({ kind: 'load', model: 'empty', folder: directory.path }, () => undefined)
  t.true(E.isLeft(empty))
  t.is(warnings.length, 1)
})

const FAILING_WORKER = new URL('../../support/fixtures/engine/failing-worker.ts', import.meta.url)
const OUT_OF_MEMORY = 'Allocation size too large: 2400000000'

test('if a GPU lacks memory, the CPU runs the model until its next load', async (t) => {
  keepProcessAlive(t)
  const warnings: Array<string> = []
  const lanes = createLanes({
    script: FAILING_WORKER,
    workers: () => 1,
    provider: 'webgpu',
    onDeath: (reason) => t.fail(reason),
    warn: (line) => warnings.push(line),
  })
  const load: Task = { kind: 'load', model: 'tiny', folder: MODEL }
  /** Returns the provider that ran a job, or the reason of its failure. The fixture fails with `failure` on a GPU. */
  const providerOf = async (failure = ''): Promise<unknown> => {
    const outcome = await lanes.run(job(simon, failure), () => undefined)
    return E.isRight(outcome) ? outcome.right : outcome.left.reason
  }
  await lanes.run(load, () => undefined)
  t.is(await providerOf(), 'webgpu')
  t.is(await providerOf(OUT_OF_MEMORY), 'cpu')
  t.deepEqual(warnings, [`webgpu failed at tiny, the CPU takes over: ${OUT_OF_MEMORY}`])
  t.is(await providerOf(), 'cpu')
  await lanes.run(load, () => undefined)
  t.is(await providerOf(), 'webgpu')
  t.is(await providerOf('wrong on both'), 'wrong on both')
  t.is(await providerOf(), 'webgpu', 'an invalid job does not move the model to the CPU')
})

test('a waiting job and a running job end when they are cancelled', async (t) => {
  keepProcessAlive(t)
  const pool = createThreadPool({ script: WORKER, size: () => 1, onDeath: (reason) => t.fail(reason) })
  const [running, waiting] = [new AbortController(), new AbortController()]
  const outcomes = await Promise.all([
    pool.run(job(simon), () => running.abort(), running.signal),
    pool.run(job(sheep), () => t.fail('a cancelled job began'), waiting.signal),
    Promise.resolve(waiting.abort()),
    pool.run(job(sheep), () => undefined),
  ])
  const reasons = outcomes.map((outcome) =>
    outcome !== undefined && E.isLeft(outcome) ? outcome.left.reason : 'done',
  )
  t.deepEqual(reasons, ['it was cancelled', 'it was cancelled', 'done', 'done'])
})
