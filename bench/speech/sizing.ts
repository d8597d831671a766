import { availableParallelism } from 'node:os'
import { writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../domain/live/settings.ts'
import { BUNDLED_MODELS, findInstalledModels } from '../../infrastructure/catalogue/installed-models.ts'
import { pathExists } from '../../infrastructure/files/path-exists.ts'
import { createSpeechEngine } from '../../infrastructure/onnx/process/engine-client.ts'
import { tableOf } from '../../interfaces/cli/table.ts'
import { demoSpeech, QUIET } from '../audio.ts'
import { machine } from '../harness.ts'
import { runLive } from './live.ts'
import { peakMegabytes, roomOf, type Room } from './room.ts'

const OPTIONS = {
  seconds: { type: 'string', default: '40' },
  json: { type: 'string' },
} as const

/** The cost of one session of a model on this machine. */
interface Size extends Room {
  readonly model: string
  readonly passes_a_second: number
  /** CPU seconds per second of audio: of the engine's process and of the pipeline's process. */
  readonly engine_cpu_s_a_second: number | null
  readonly own_cpu_s_a_second: number
  /** Number of sessions that use all cores for transcription. Sockets and stores need more CPU time. */
  readonly sessions_by_cpu: number | null
  /** Peak memory of the engine's process. */
  readonly memory_mb: number | null
}

const HEADINGS = [
  'model', 'pass s', 'CPU s', 'passes/s', 'engine CPU s/s', 'pipeline CPU s/s', 'memory MB',
  'lanes', 'lanes/session', 'sessions', 'by CPU',
]

const cell = (value: number | null): string | number => value ?? '-'

/** Length of the first run, which measures the duration of a pass. */
const MEASURING_SAMPLES = 8 * SAMPLE_RATE

/**
 * Runs one session of a model and returns its cost and the number of sessions that this machine admits. Audio arrives
 * at full speed, but answers are delayed by the CPU time of a pass, so other programs on the machine have little
 * effect.
 */
const sizeOf = async (model: string, folder: string, samples: Int16Array): Promise<Size | null> => {
  const cores = availableParallelism()
  const engine = createSpeechEngine({ models: new Map([[model, folder]]), workers: cores, logger: QUIET })
  try {
    const seconds = samples.length / SAMPLE_RATE
    const options = { model, settings: DEFAULT_ENGINE_SETTINGS, speed: 'max' } as const
    await runLive(engine, samples.subarray(0, MEASURING_SAMPLES), 'en', { ...options, passSeconds: 0 })
    const pass = engine.passTime(model)
    const run = await runLive(engine, samples, 'en', { ...options, passSeconds: pass?.busy ?? pass?.usual ?? 0 })
    const room = roomOf([engine], model)
    if (room === null) return null
    const perSecond = (value: number): number => Number((value / seconds).toFixed(3))
    return {
      model,
      ...room,
      passes_a_second: perSecond(run.passes),
      sessions_by_cpu: run.engineCpu === null ? null : Math.floor(cores / perSecond(run.engineCpu + run.ownCpu)),
      engine_cpu_s_a_second: run.engineCpu === null ? null : perSecond(run.engineCpu),
      own_cpu_s_a_second: perSecond(run.ownCpu),
      memory_mb: peakMegabytes(engine.pid()),
    }
  } finally {
    await engine.close()
  }
}

/**
 * `npm run bench -- speech-sizing [MODEL…]`: measures the cost of a session of each installed model. See docs/bench.md.
 */
export const speechSizing = async (args: ReadonlyArray<string>): Promise<void> => {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
  const given = resolve(process.env['STENOLOG_MODELS_DIR'] ?? '../shared/models')
  const modelsDir = (await pathExists(given)) ? given : null
  const found = await findInstalledModels({ bundledDir: BUNDLED_MODELS, modelsDir, logger: QUIET })
  const isWanted = (names: ReadonlyArray<string>): boolean =>
    positionals.length === 0 || names.some((name) => positionals.includes(name))
  const wanted = found.models.filter(({ name, folder }) => isWanted([name, basename(folder)]))
  const { samples } = await demoSpeech()
  const sizes: Array<Size> = []
  for (const { name, folder } of wanted) {
    const size = await sizeOf(name, folder, samples.subarray(0, Number(values.seconds) * SAMPLE_RATE))
    if (size === null) console.error(`${name}: no pass was measured`)
    else sizes.push(size)
  }
  const rows = sizes.map((size) => [
    size.model,
    size.pass_s,
    cell(size.busy_s),
    size.passes_a_second,
    cell(size.engine_cpu_s_a_second),
    size.own_cpu_s_a_second,
    cell(size.memory_mb),
    size.lanes,
    size.share,
    size.sessions,
    cell(size.sessions_by_cpu),
  ])
  console.log(tableOf(HEADINGS, rows))
  const result = { machine: machine(), sizes }
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, null, 2)}\n`)
}
