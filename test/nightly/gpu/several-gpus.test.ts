import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createEnginePool } from '../../../application/pipeline/engine-pool.ts'
import { createLivePipeline } from '../../../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../../../application/pipeline/scheduler.ts'
import type { SpeechEngine } from '../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { startSpeechEngines } from '../../../infrastructure/onnx/process/engine-client.ts'
import { findEngineGpus } from '../../../infrastructure/onnx/providers/engine-gpus.ts'
import { TEST_PROVIDER } from '../../../infrastructure/onnx/providers/engine-environment.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { collectEvents, heldTimers } from '../../support/pipeline/pipeline-driver.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { readWav } from '../../support/audio/wav.ts'

const TEXT = 'Simon came easily in February.'
const simon = readWav('test/support/fixtures/engine/simon.wav')
const IDS = ['GPU-a1', 'GPU-b2', 'GPU-c3']
const monotonic = (): number => performance.now()

/** Starts three engine processes, one for each of three invented GPUs. Their models run on the CPU. */
const start = async (t: ExecutionContext, vrams: ReadonlyArray<number>) => {
  process.env[TEST_PROVIDER] = 'cpu'
  const logger = createRecordingLogger()
  const gpus = await findEngineGpus({
    gpus: async () => IDS.map((id) => ({ id, name: 'A GPU', memory: 8000, used: 0 })),
    visible: undefined,
    choose: async () => ({ provider: 'cuda', why: 'chosen by the test' }),
  })
  const engines = startSpeechEngines({ models: new Map([['demo-en', 'models/demo-en']]), workers: 3, logger }, gpus)
  const pool = createEnginePool({ engines, vrams, shareOn: () => 0.1 })
  t.teardown(pool.whole.close)
  const schedulers = new Map(engines.map((engine) => [engine, createScheduler(engine, monotonic)]))

  /** Starts a session and sends it the audio of one sentence. `finish` returns its text. */
  const begin = (liveId: number, vram: number) => {
    const { engine, release } = pool.pin({ liveId, model: 'demo-en', vram })
    const scheduler = schedulers.get(engine)
    assert(scheduler !== undefined)
    const { events, finals, failures } = collectEvents()
    const pipeline = createLivePipeline({ engine, scheduler, monotonic, timers: heldTimers(), onStop: release })({
      liveId,
      model: 'demo-en',
      language: 'en',
      settings: DEFAULT_ENGINE_SETTINGS,
      nextSegment: 1,
      events,
    })
    const started = pipeline.start()
    pipeline.push(simon)
    const finish = async (): Promise<string> => {
      await started
      await pipeline.finish(60_000)
      return [...finals.map(({ text }) => text), ...failures].join(' ')
    }
    return { engine: engines.indexOf(engine), finish, abort: pipeline.abort }
  }
  return { engines, pool, begin, logger }
}

const gpusOfDeadProcesses = (lines: ReturnType<typeof createRecordingLogger>['lines']): ReadonlyArray<unknown> =>
  lines.flatMap(({ message, fields }) => (message === 'engine process died' ? [fields['gpuId']] : []))

const pidOf = (engine: SpeechEngine | undefined): number => engine?.pid() ?? assert.fail('the engine does not run')

test('sessions spread over one engine for each GPU, and a killed engine disturbs only its own sessions', async (t) => {
  const { engines, pool, begin, logger } = await start(t, [8000, 8000, 8000])
  const loaded = await Promise.all(engines.map((engine) => engine.load('demo-en')))
  t.true(loaded.every(E.isRight))
  const pids = engines.map(pidOf)
  t.is(new Set(pids).size, 3)
  for (const [index, pid] of pids.entries()) {
    const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0')
    t.true(environment.includes(`CUDA_VISIBLE_DEVICES=${IDS[index]}`))
  }

  const sessions = [1, 2, 3, 4].map((liveId) => begin(liveId, 1000))
  t.deepEqual(sessions.map(({ engine }) => engine), [0, 1, 2, 0])
  process.kill(pids[1] ?? 0, 'SIGKILL')
  t.deepEqual(await Promise.all(sessions.map(({ finish }) => finish())), [TEXT, TEXT, TEXT, TEXT])
  t.deepEqual(gpusOfDeadProcesses(logger.lines), ['GPU-b2'])
  await eventually(() => assert.notEqual(engines[1]?.pid() ?? pids[1], pids[1]))
  t.deepEqual([engines[0].pid(), engines[2]?.pid()], [pids[0], pids[2]])
  t.deepEqual(pool.loads()?.map((engine) => engine.sessions.size), [0, 0, 0], 'each session has left its GPU')
})

test('a session begins on a GPU with enough memory, and memory of an aborted session is used again', async (t) => {
  const { begin } = await start(t, [2000, 3000, 6000])
  const large = begin(1, 5000)
  const middle = begin(2, 3000)
  t.deepEqual([large.engine, middle.engine], [2, 1])
  t.is(begin(3, 2000).engine, 0)
  middle.abort()
  t.is(begin(4, 2500).engine, 1)
})
