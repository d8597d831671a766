import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Hypothesis } from '../../../application/ports/engine.ts'
import { createLanes } from '../../../infrastructure/onnx/process/lanes.ts'
import type { Outcome, Task } from '../../../infrastructure/onnx/process/messages.ts'
import { createWorkerPool } from '../../../infrastructure/onnx/process/worker-pool.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { readWav } from '../../support/audio/wav.ts'

const WORKER = new URL('../../../infrastructure/onnx/process/transcription-worker.ts', import.meta.url)
const MODEL = 'test/support/fixtures/engine/exact-whisper'

const simon = readWav('test/support/fixtures/engine/simon.wav')
const sheep = readWav('test/support/fixtures/engine/sheep.wav')

/** A pool's threads do not keep their process alive: the engine lives by its parent's channel, a test by this. */
const stayAlive = (t: ExecutionContext): void => {
  const alive = setInterval(() => undefined, 60_000)
  t.teardown(() => clearInterval(alive))
}

const job = (samples: Int16Array, language = 'en'): Task => ({
  kind: 'transcribe',
  job: { model: 'tiny', language, samples },
  folder: MODEL,
})

/** A sum of several rows may be rounded otherwise than that of one. */
/** Without its cost, which no two passes share. */
const rounded = (outcome: Outcome): Outcome => {
  const comparable = (name: string, value: unknown): unknown => {
    if (name === 'busySeconds') return undefined
    return typeof value === 'number' ? Math.round(value * 1000) : value
  }
  return JSON.parse(JSON.stringify(outcome, comparable)) as Outcome
}

test('a pass on the CPU reports its processor time', async (t) => {
  stayAlive(t)
  const pool = createWorkerPool({ script: WORKER, size: 1, onDeath: (reason) => t.fail(reason) })
  const outcome = await pool.run(job(simon), () => undefined)
  const heard = E.isRight(outcome) ? (outcome.right as Hypothesis) : undefined
  t.true((heard?.busySeconds ?? 0) > 0)
})

test('a worker joins the waiting jobs of a model, each with its own text; an invalid job harms no other', async (t) => {
  stayAlive(t)
  const deaths: Array<string> = []
  const begun: Array<number> = []
  const pool = createWorkerPool({ script: WORKER, size: 1, batch: 4, onDeath: (reason) => deaths.push(reason) })
  const run = (tasks: ReadonlyArray<Task>): Promise<ReadonlyArray<Outcome>> =>
    Promise.all(tasks.map(async (task, index) => rounded(await pool.run(task, () => begun.push(index)))))
  const [heardSimon, heardSheep] = await run([job(simon)]).then(async ([first]) => [
    first,
    (await run([job(sheep)]))[0],
  ])
  t.notDeepEqual(heardSimon, heardSheep)
  begun.length = 0

  // The first finds the worker idle; the others wait, and go together: four, then the rest.
  const load: Task = { kind: 'load', model: 'tiny', folder: MODEL }
  const outcomes = await run([job(simon), job(sheep), job(simon), load, job(sheep), job(simon), job(sheep)])
  t.deepEqual(
    outcomes.filter((_, index) => index !== 3),
    [heardSimon, heardSheep, heardSimon, heardSheep, heardSimon, heardSheep],
  )
  t.deepEqual(begun, [0, 1, 2, 4, 5, 3, 6], 'jobs for the model join the batch of the first that waits')

  const [first, wrong, third] = (await run([job(sheep), job(simon), job(simon, 'xx'), job(sheep)])).slice(1)
  t.deepEqual([first, third], [heardSimon, heardSheep])
  t.true(wrong !== undefined && E.isLeft(wrong) && wrong.left.reason.includes('does not know the language xx'))
  t.deepEqual(deaths, [])
})

test('models with 8-bit weights, and models that do not load on the GPU, run on the CPU', async (t) => {
  stayAlive(t)
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  await mkdir(join(directory.path, 'onnx'))
  const warnings: Array<string> = []
  // There is no GPU here, or there is: `cuda` without its library loads nothing either way.
  const lanes = createLanes({
    script: WORKER,
    workers: 1,
    provider: 'cuda',
    onDeath: (reason) => t.fail(reason),
    warn: (line) => warnings.push(line),
  })
  const ran = await lanes.run({ kind: 'load', model: 'demo-en', folder: 'models/demo-en' }, () => undefined)
  t.deepEqual(ran, E.right({ windowSeconds: 10 }))
  const loaded = await lanes.run({ kind: 'load', model: 'tiny', folder: MODEL }, () => undefined)
  t.true(E.isRight(loaded) && typeof loaded.right === 'object' && loaded.right !== null && !('onGpu' in loaded.right))
  t.regex(warnings.join(), /^cuda failed at tiny, the CPU takes over: /)
  t.true(E.isRight(await lanes.run(job(simon), () => undefined)))
  const none = await lanes.run({ kind: 'load', model: 'none', folder: directory.path }, () => undefined)
  t.true(E.isLeft(none))
  t.is(warnings.length, 1)
})

const FAILING_WORKER = new URL('../../support/fixtures/engine/failing-worker.ts', import.meta.url)
const OUT_OF_MEMORY = 'Allocation size too large: 2400000000'

test('if a GPU lacks memory, the CPU runs the model until its next load', async (t) => {
  stayAlive(t)
  const warnings: Array<string> = []
  const lanes = createLanes({
    script: FAILING_WORKER,
    workers: 1,
    provider: 'webgpu',
    onDeath: (reason) => t.fail(reason),
    warn: (line) => warnings.push(line),
  })
  const load: Task = { kind: 'load', model: 'tiny', folder: MODEL }
  const heardOn = async (reason = ''): Promise<unknown> => {
    const outcome = await lanes.run(job(simon, reason), () => undefined)
    return E.isRight(outcome) ? outcome.right : outcome.left.reason
  }
  await lanes.run(load, () => undefined)
  t.is(await heardOn(), 'webgpu')
  t.is(await heardOn(OUT_OF_MEMORY), 'cpu')
  t.deepEqual(warnings, [`webgpu failed at tiny, the CPU takes over: ${OUT_OF_MEMORY}`])
  t.is(await heardOn(), 'cpu')
  await lanes.run(load, () => undefined)
  t.is(await heardOn(), 'webgpu')
  t.is(await heardOn('wrong on both'), 'wrong on both')
  t.is(await heardOn(), 'webgpu', 'a job that is wrong says nothing of the GPU')
})

test('a cancelled pass ends, both waiting and running', async (t) => {
  stayAlive(t)
  const pool = createWorkerPool({ script: WORKER, size: 1, onDeath: (reason) => t.fail(reason) })
  const [running, waiting] = [new AbortController(), new AbortController()]
  const outcomes = await Promise.all([
    pool.run(job(simon), () => running.abort(), running.signal),
    pool.run(job(sheep), () => t.fail('it has not begun'), waiting.signal),
    Promise.resolve(waiting.abort()),
    pool.run(job(sheep), () => undefined),
  ])
  const reasons = outcomes.map((outcome) =>
    outcome !== undefined && E.isLeft(outcome) ? outcome.left.reason : 'heard',
  )
  t.deepEqual(reasons, ['it was cancelled', 'it was cancelled', 'heard', 'heard'])
})
