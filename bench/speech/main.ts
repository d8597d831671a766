import { availableParallelism } from 'node:os'
import { writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS, engineSettings } from '../../domain/live/settings.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { isThere } from '../../infrastructure/files/is-there.ts'
import { createSpeechEngine } from '../../infrastructure/onnx/process/engine-client.ts'
import { QUIET } from '../audio.ts'
import { machine } from '../harness.ts'
import { figuresOf, scoredLive, scoredText } from './figures.ts'
import type { ScoredRecording } from './figures.ts'
import { runLive } from './live.ts'
import type { LiveOptions, LiveRun } from './live.ts'
import { readRecordings } from './recordings.ts'
import type { Recording } from './recordings.ts'
import { openOffline } from './reference.ts'
import { reportOf } from './report.ts'
import { unitOf } from './words.ts'

const OPTIONS = {
  model: { type: 'string', default: 'whisper-base' },
  only: { type: 'string', default: '' },
  run: { type: 'string', default: 'reference,live' },
  speed: { type: 'string', default: 'max' },
  pass: { type: 'string', default: '0' },
  set: { type: 'string', multiple: true },
  jobs: { type: 'string', default: '1' },
  json: { type: 'string' },
} as const

const SHARED = resolve('../shared')

interface Heard extends Recording {
  readonly audio: Int16Array
}

/** Engine settings from `name=value`. */
const settingsOf = (changes: ReadonlyArray<string>): EngineSettings => {
  const members = changes.map((change): [string, unknown] => {
    const [name = '', value = ''] = change.split('=')
    return [name, /^[-\d.]+$|^true$|^false$/.test(value) ? JSON.parse(value) : value]
  })
  const decoded = engineSettings.decode({ ...DEFAULT_ENGINE_SETTINGS, ...Object.fromEntries(members) })
  if (E.isLeft(decoded)) throw new Error(`not engine settings: ${changes.join(' ')}`)
  return decoded.right
}

/** `work` on each, so many at a time; the answers in the order of the items. */
const inTurn = async <A, B>(items: ReadonlyArray<A>, lanes: number, work: (item: A, lane: number) => Promise<B>): Promise<ReadonlyArray<B>> => {
  const answers: Array<B> = []
  const queue = items.entries()
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (const [i, item] of queue) answers[i] = await work(item, lane)
    }),
  )
  return answers
}

const referenceOf = async (folder: string, recordings: ReadonlyArray<Heard>): Promise<ReadonlyArray<string>> => {
  const model = await openOffline(folder, false)
  try {
    return await inTurn(recordings, 1, ({ audio, language }) => model.transcribe(audio, language))
  } finally {
    await model.release()
  }
}

/** Each lane has an engine process of its own, so that the CPU time of a recording can be told. */
const livesOf = async (
  folder: string,
  recordings: ReadonlyArray<Heard>,
  lanes: number,
  options: LiveOptions,
): Promise<{ readonly runs: ReadonlyArray<LiveRun>; readonly ownCpu: number }> => {
  const engines = Array.from({ length: lanes }, () =>
    createSpeechEngine({
      models: new Map([[options.model, folder]]),
      workers: Math.max(1, Math.floor(availableParallelism() / lanes)),
      logger: QUIET,
    }),
  )
  try {
    const before = process.cpuUsage()
    const runs = await inTurn(recordings, lanes, async ({ name, audio, language }, lane) => {
      const engine = engines[lane]
      if (engine === undefined) throw new Error('a lane without an engine')
      const run = await runLive(engine, audio, language, options)
      console.error(`${name}: ${run.passes} passes, ${run.engineCpu?.toFixed(1) ?? '?'} s of CPU`)
      return run
    })
    const { user, system } = process.cpuUsage(before)
    return { runs, ownCpu: (user + system) / 1e6 }
  } finally {
    await Promise.all(engines.map((engine) => engine.close()))
  }
}

/** `npm run bench -- speech [FOLDER…] [options]`: docs/bench.md says what it measures. */
export const speech = async (args: ReadonlyArray<string>): Promise<void> => {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
  const folder = resolve(process.env['STENOLOG_MODELS_DIR'] ?? '../shared/models', values.model)
  const given = positionals.length > 0 ? positionals : ['speech', 'speech-long'].map((name) => resolve(SHARED, name))
  for (const needed of [`${folder}/config.json`, ...given.map((path) => `${path}/manifest.json`)]) {
    if (await isThere(needed)) continue
    console.log(`speech: skipped: no ${basename(resolve(needed, '..'))}/${basename(needed)}`)
    return
  }
  if (values.speed !== 'max' && values.speed !== 'real') throw new Error('--speed is max or real')
  const settings = settingsOf(values.set ?? [])
  const options: LiveOptions = { model: values.model, settings, speed: values.speed, passSeconds: Number(values.pass) }
  const only = new RegExp(values.only)
  const chosen = (await readRecordings(given)).filter(({ name }) => only.test(name))
  const recordings = await inTurn(chosen, 1, async (recording): Promise<Heard> => ({ ...recording, audio: await recording.samples() }))
  const wanted = values.run.split(',')
  const references = wanted.includes('reference') ? await referenceOf(folder, recordings) : []
  const lives = wanted.includes('live') ? await livesOf(folder, recordings, Number(values.jobs), options) : null
  const scored = recordings.map((recording, i): ScoredRecording => {
    const { name, language, text, others, audio } = recording
    const run = lives?.runs[i]
    const made = { ...(references[i] === undefined ? {} : { reference: references[i] }), ...others }
    return {
      name,
      language,
      unit: unitOf(language),
      seconds: audio.length / SAMPLE_RATE,
      said: text,
      texts: Object.fromEntries(Object.entries(made).map(([maker, text]) => [maker, scoredText(recording, text)])),
      live: run === undefined ? null : scoredLive(recording, run, settings.buffer_timeout),
    }
  })
  const figures = figuresOf(scored)
  const seconds = scored.reduce((sum, { seconds }) => sum + seconds, 0)
  console.log(reportOf(figures))
  if (lives !== null) console.log(`\nCPU of the pipeline's own process: ${(lives.ownCpu / seconds).toFixed(3)} s a second`)
  if (values.json === undefined) return
  const run = { ...options, own_cpu_s_a_second: lives === null ? null : lives.ownCpu / seconds }
  await writeFile(values.json, `${JSON.stringify({ machine: machine(), run, figures, recordings: scored }, null, 2)}\n`)
}
