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
import { mostMegabytes, roomOf } from './room.ts'
import type { Room } from './room.ts'

const OPTIONS = {
  seconds: { type: 'string', default: '40' },
  json: { type: 'string' },
} as const

/** What one session of a model costs on this machine. */
interface Size extends Room {
  readonly model: string
  readonly passes_a_second: number
  /** Of the engine's process, and of the pipeline's own. */
  readonly engine_cpu_s_a_second: number | null
  readonly own_cpu_s_a_second: number
  /** So many sessions keep all cores busy with hearing them; sockets and stores come on top. */
  readonly sessions_by_cpu: number | null
  /** That the engine's process held at most. */
  readonly memory_mb: number | null
}

const HEADINGS = [
  'model', 'pass s', 'of CPU', 'passes a s', 'engine CPU s a s', 'pipeline CPU', 'memory MB',
  'lanes', 'a session takes', 'sessions', 'by CPU',
]

const cell = (value: number | null): string | number => value ?? '-'

/** Audio after which the time of a pass is known. */
const FIRST = 8 * SAMPLE_RATE

/**
 * One session of a model, and how many such this machine hears by the measure that admits them. Audio comes as fast as it
 * is heard, but answers come as late as passes of the model take a processor: other programs change little.
 */
const sizeOf = async (model: string, folder: string, samples: Int16Array): Promise<Size | null> => {
  const cores = availableParallelism()
  const engine = createSpeechEngine({ models: new Map([[model, folder]]), workers: cores, logger: QUIET })
  try {
    const seconds = samples.length / SAMPLE_RATE
    const options = { model, settings: DEFAULT_ENGINE_SETTINGS, speed: 'max' } as const
    await runLive(engine, samples.subarray(0, FIRST), 'en', { ...options, passSeconds: 0 })
    const pass = engine.passTime(model)
    const run = await runLive(engine, samples, 'en', { ...options, passSeconds: pass?.busy ?? pass?.usual ?? 0 })
    const room = roomOf([engine], model)
    if (room === null) return null
    const aSecond = (value: number): number => Number((value / seconds).toFixed(3))
    return {
      model,
      ...room,
      passes_a_second: aSecond(run.passes),
      sessions_by_cpu: run.engineCpu === null ? null : Math.floor(cores / aSecond(run.engineCpu + run.ownCpu)),
      engine_cpu_s_a_second: run.engineCpu === null ? null : aSecond(run.engineCpu),
      own_cpu_s_a_second: aSecond(run.ownCpu),
      memory_mb: mostMegabytes(engine.pid()),
    }
  } finally {
    await engine.close()
  }
}

/** `npm run bench -- speech-sizing [MODEL…]`: what a session of each model that is there costs; docs/bench.md. */
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
  const told = { machine: machine(), sizes }
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(told, null, 2)}\n`)
}
