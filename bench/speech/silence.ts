import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { DEFAULT_ENGINE_SETTINGS } from '../../domain/live/settings.ts'
import { pathExists } from '../../infrastructure/files/path-exists.ts'
import { createSpeechEngine } from '../../infrastructure/onnx/process/engine-client.ts'
import { tableOf } from '../../interfaces/cli/table.ts'
import { QUIET } from '../audio.ts'
import { runLive } from './live.ts'
import { SOUNDS } from './sounds.ts'

const OPTIONS = {
  model: { type: 'string', default: 'whisper-base' },
  language: { type: 'string', default: 'en' },
  minutes: { type: 'string', default: '60' },
  only: { type: 'string', default: '' },
} as const

const wordsOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.flatMap((text) => text.split(/\s+/).filter(Boolean))

/**
 * `npm run bench -- speech-silence`: counts the words that a model invents for sounds without speech. See
 * docs/bench.md.
 */
export const speechSilence = async (args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const folder = resolve(process.env['STENOLOG_MODELS_DIR'] ?? '../shared/models', values.model)
  if (!(await pathExists(`${folder}/config.json`)))
    return console.log(`speech-silence: skipped: no ${values.model}/config.json`)
  const sounds = SOUNDS.filter(({ name }) => name.includes(values.only))
  const minutes = Number(values.minutes) / SOUNDS.length
  const engine = createSpeechEngine({ models: new Map([[values.model, folder]]), workers: 1, logger: QUIET })
  const rows: Array<ReadonlyArray<string | number>> = []
  try {
    for (const vad of [true, false])
      for (const { name, samples } of sounds) {
        const settings = { ...DEFAULT_ENGINE_SETTINGS, vad }
        const run = await runLive(
          engine,
          samples(60 * minutes),
          values.language,
          { model: values.model, settings, speed: 'max', passSeconds: 0 },
        )
        const finals = wordsOf(run.frames.filter(({ final }) => final).map(({ text }) => text))
        const shown = run.frames.filter(({ final, text }) => !final && text !== '').length
        const perMinute = (finals.length / minutes).toFixed(1)
        const firstWords = finals.slice(0, 6).join(' ')
        const detector = vad ? 'with' : 'without'
        rows.push([detector, name, minutes.toFixed(1), finals.length, perMinute, shown, run.passes, firstWords])
        console.error(rows.at(-1)?.join(' | '))
      }
  } finally {
    await engine.close()
  }
  console.log(
    tableOf(
      ['detector', 'sound', 'minutes', 'final words', 'per minute', 'draft frames', 'passes', 'first words'],
      rows,
    ),
  )
}
