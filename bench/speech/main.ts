import { availableParallelism } from 'node:os'
import { writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import { createScheduler } from '../../application/pipeline/scheduler.ts'
import { SAMPLE_RATE, type SpeechEngine } from '../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS, engineSettings, type EngineSettings } from '../../domain/live/settings.ts'
import { pathExists } from '../../infrastructure/files/path-exists.ts'
import { createSpeechEngine } from '../../infrastructure/onnx/process/engine-client.ts'
import { QUIET } from '../audio.ts'
import { machine } from '../harness.ts'
import { altered, type Alterations } from './altered.ts'
import { figuresOf, scoredLive, scoredText, type ScoredRecording } from './figures.ts'
import { hubShapedCopy } from './hub-shaped.ts'
import { runLive, type LiveOptions } from './live.ts'
import { detectQuiets } from './quiet.ts'
import { readRecordings, type Recording } from './recordings.ts'
import { openOffline, type OfflineModel } from './reference.ts'
import { reportOf } from './report.ts'
import { lineOf, roomOf } from './room.ts'
import { unitOf } from './words.ts'

const OPTIONS = {
  model: { type: 'string', default: 'whisper-base' },
  only: { type: 'string', default: '' },
  run: { type: 'string', default: 'reference,live' },
  'hub-shaped': { type: 'boolean', default: false },
  context: { type: 'boolean', default: false },
  speed: { type: 'string', default: 'max' },
  pass: { type: 'string', default: '0' },
  set: { type: 'string', multiple: true },
  jobs: { type: 'string', default: '1' },
  language: { type: 'string' },
  task: { type: 'string', default: 'transcribe' },
  prompt: { type: 'string', default: '' },
  hotword: { type: 'string', multiple: true },
  sessions: { type: 'string' },
  noise: { type: 'string' },
  pauses: { type: 'string' },
  json: { type: 'string' },
} as const

const SHARED = resolve('../shared')

/** Parses engine settings of the form `name=value`. Throws on unknown settings and wrong values. */
const settingsOf = (changes: ReadonlyArray<string>): EngineSettings => {
  const members = changes.map((change): [string, unknown] => {
    const [name = '', value = ''] = change.split('=')
    return [name, /^[-\d.]+$|^true$|^false$/.test(value) ? JSON.parse(value) : value]
  })
  const decoded = engineSettings.decode({ ...DEFAULT_ENGINE_SETTINGS, ...Object.fromEntries(members) })
  if (E.isLeft(decoded)) throw new Error(`invalid engine settings: ${changes.join(' ')}`)
  return decoded.right
}

interface SpeechOptions {
  readonly task: string
  readonly prompt: string
  readonly hotword?: ReadonlyArray<string>
}

const wishesOf = ({ task, prompt, hotword = [] }: SpeechOptions): NonNullable<LiveOptions['wishes']> => {
  if (task !== 'transcribe' && task !== 'translate') throw new Error('--task should be transcribe or translate')
  const hasVocabulary = prompt !== '' || hotword.length > 0
  return { task, ...(hasVocabulary && { vocabulary: { prompt, hotwords: hotword } }) }
}

type GivenAlterations = { readonly [name in keyof Alterations]?: string | undefined }

const alterationsOf = ({ noise, pauses }: GivenAlterations): Alterations => ({
  ...(noise !== undefined && { noise: Number(noise) }),
  ...(pauses !== undefined && { pauses: Number(pauses) }),
})

/** Runs `work` on each item, with `slots` items at a time. */
const inParallel = async <A>(
  items: ReadonlyArray<A>,
  slots: number,
  work: (item: A, slot: number) => Promise<void>,
): Promise<void> => {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: slots }, async (_, slot) => {
      for (const item of queue) await work(item, slot)
    }),
  )
}

type Scores = ReadonlyArray<ScoredRecording>

const ordered = (done: Scores, recordings: ReadonlyArray<Recording>): Scores =>
  recordings.flatMap(({ name }) => done.find((scored) => scored.name === name) ?? [])

/** The work for each recording. */
interface RecordingTask {
  /** The offline model; absent when no reference is wanted. */
  readonly reference?: OfflineModel
  /** One engine per slot, so the CPU time of each recording is known. Empty when no live run is wanted. */
  readonly engines: ReadonlyArray<SpeechEngine>
  readonly options: LiveOptions
  readonly alterations: Alterations
  /** Replaces the language of the recordings. */
  readonly language: string | undefined
}

const transcribe = async (recording: Recording, slot: number, task: RecordingTask): Promise<ScoredRecording> => {
  const { reference, engines, options } = task
  const { buffer_timeout } = options.settings
  const { name, language, text: said, others } = recording
  const { samples: audio, words } = await altered(recording, task.alterations)
  const engine = engines[slot]
  const quiets = engine === undefined ? [] : await detectQuiets(engine, audio)
  const run = engine === undefined ? null : await runLive(engine, audio, task.language ?? language, options)
  const offline = await reference?.transcribe(audio, language)
  const made = offline === undefined ? others : { reference: offline, ...others }
  const cost = run === null ? '' : `, ${run.passes} passes, ${run.engineCpu?.toFixed(1) ?? '?'} s of CPU`
  console.error(`${name}: transcribed${cost}`)
  return {
    name,
    language,
    unit: unitOf(language),
    seconds: audio.length / SAMPLE_RATE,
    said,
    texts: Object.fromEntries(Object.entries(made).map(([maker, text]) => [maker, scoredText(recording, text)])),
    live: run === null ? null : scoredLive({ ...recording, words, run, quiets, offline }, buffer_timeout),
  }
}

interface Engines {
  readonly engines: ReadonlyArray<SpeechEngine>
  /** Options of sessions that share an engine. */
  readonly shared: Pick<LiveOptions, 'scheduler'>
  readonly close: () => Promise<void>
}

interface Wanted {
  readonly model: string
  readonly speed: string
  readonly jobs: string
  readonly sessions?: string | undefined
}

/** Opens one engine per job, or one engine that all sessions share like in a service. */
const openEngines = ({ model, speed, jobs, sessions }: Wanted, folder: string): Engines => {
  if (sessions !== undefined && speed !== 'real') throw new Error('--sessions needs --speed real')
  const cores = availableParallelism()
  const workers = sessions === undefined ? Math.max(1, Math.floor(cores / Number(jobs))) : cores
  const open = (): SpeechEngine => createSpeechEngine({ models: new Map([[model, folder]]), workers, logger: QUIET })
  if (sessions === undefined) {
    const engines = Array.from({ length: Number(jobs) }, open)
    return { engines, shared: {}, close: async () => void (await Promise.all(engines.map((engine) => engine.close()))) }
  }
  const engine = open()
  return {
    engines: Array.from({ length: Number(sessions) }, () => engine),
    shared: { scheduler: createScheduler(engine, () => performance.now()) },
    close: engine.close,
  }
}

const firstAbsent = async (files: ReadonlyArray<string>): Promise<string | undefined> => {
  for (const file of files) if (!(await pathExists(file))) return file
  return undefined
}

/** `npm run bench -- speech [FOLDER…] [options]`: measures accuracy and delays on recordings. See docs/bench.md. */
export const speech = async (args: ReadonlyArray<string>): Promise<void> => {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
  const installed = resolve(process.env['STENOLOG_MODELS_DIR'] ?? '../shared/models', values.model)
  const given = positionals.length > 0 ? positionals : ['speech', 'speech-long'].map((name) => resolve(SHARED, name))
  const absent = await firstAbsent([`${installed}/config.json`, ...given.map((path) => `${path}/manifest.json`)])
  if (absent !== undefined) {
    console.log(`speech: skipped: no ${basename(resolve(absent, '..'))}/${basename(absent)}`)
    return
  }
  if (values.speed !== 'max' && values.speed !== 'real') throw new Error('--speed should be max or real')
  const settings = settingsOf(values.set ?? [])
  const options: LiveOptions = {
    model: values.model,
    settings,
    speed: values.speed,
    passSeconds: Number(values.pass),
    wishes: wishesOf(values),
  }
  const copy = values['hub-shaped'] ? await hubShapedCopy(installed) : null
  const folder = copy?.folder ?? installed
  const only = new RegExp(values.only)
  const recordings = (await readRecordings(given)).filter(({ name }) => only.test(name))
  const wanted = values.run.split(',')
  const opened = openEngines(values, folder)
  const task: RecordingTask = {
    ...(wanted.includes('reference') ? { reference: await openOffline(folder, values.context) } : {}),
    engines: wanted.includes('live') ? opened.engines : [],
    options: { ...options, ...opened.shared },
    alterations: alterationsOf(values),
    language: values.language,
  }
  // Sessions may share an engine, so count each engine once.
  const uniqueEngines = [...new Set(task.engines)]
  const done: Array<ScoredRecording> = []
  // The results are written after each recording, so an interrupted run keeps them. They have the manifests' order.
  const write = async (): Promise<void> => {
    if (values.json === undefined) return
    const scored = ordered(done, recordings)
    const [run, room] = [{ ...options, ...task.alterations }, roomOf(uniqueEngines, values.model)]
    const result = { machine: machine(), run, room, figures: figuresOf(scored), recordings: scored }
    await writeFile(values.json, `${JSON.stringify(result, null, 2)}\n`)
  }
  try {
    await inParallel(recordings, opened.engines.length, async (recording, slot) => {
      done.push(await transcribe(recording, slot, task))
      await write()
    })
    console.log(`${lineOf(values.model, roomOf(uniqueEngines, values.model))}\n`)
  } finally {
    await Promise.all([opened.close(), task.reference?.release()])
    await copy?.remove()
  }
  console.log(reportOf(figuresOf(ordered(done, recordings))))
}
