import { parseArgs } from 'node:util'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { ApiClient } from './api-client.ts'
import { logIn } from './api-client.ts'
import { readAudioFile } from './audio-file.ts'
import { startThrowAwayInstance } from './instance.ts'
import { createLiveDisplay } from './live-display.ts'
import { finals, partialsOf, quantiles, transcriptOf } from './live-report.ts'
import { streamLive } from './live-stream.ts'

export const TRANSCRIBE_HELP = `stenolog transcribe FILE... [--model NAME] [--language CODE] [--speed 1|max] [--mode partial|final] [--json]

Streams audio files (anything FFmpeg reads) through a throw-away instance over the real WebSocket, as a user would.
--model NAME      default demo-en; further ones: a folder of STENOLOG_MODELS_DIR
--language CODE   ISO 639-1 or auto, default en
--speed 1|max     in real time (default), or as fast as the service takes it
--mode            partial (default) shows the text while it is spoken, final only what will not change
--json            one line of JSON a file`

interface Options {
  readonly model: string
  readonly language: string
  readonly speed: number
  readonly mode: 'partial' | 'final'
  readonly json: boolean
}

const optionsOf = (args: ReadonlyArray<string>): { readonly files: ReadonlyArray<string>; readonly options: Options } => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      model: { type: 'string', default: 'demo-en' },
      language: { type: 'string', default: 'en' },
      speed: { type: 'string', default: '1' },
      mode: { type: 'string', default: 'partial' },
      json: { type: 'boolean', default: false },
    },
  })
  if (positionals.length === 0) throw new Error('transcribe needs at least one FILE')
  if (values.speed !== '1' && values.speed !== 'max') throw new Error('--speed is 1 or max')
  const { mode } = values
  if (mode !== 'partial' && mode !== 'final') throw new Error('--mode is partial or final')
  return { files: positionals, options: { ...values, mode, speed: values.speed === 'max' ? Infinity : 1 } }
}

const transcribeFile = async (client: ApiClient, file: string, options: Options): Promise<void> => {
  const { model, language, mode, speed, json } = options
  const samples = await readAudioFile(file)
  const live = await client.createLive({ model, language, config: { mode } })
  const begin = performance.now()
  if (!json) console.log(`\n${file}`)
  const frames = await streamLive(client, live, samples, json ? { speed } : { speed, onFrame: createLiveDisplay(process.stdout) })
  const report = {
    file,
    model,
    language,
    text: transcriptOf(frames),
    segments: finals(frames).map(({ start, end, text }) => ({ start, end, text })),
    audio_s: samples.length / SAMPLE_RATE,
    wall_s: Math.round(performance.now() - begin) / 1000,
    first_text_s: frames[0]?.receivedAt ?? null,
    // Faster than real time a segment is heard before it was "spoken": there is no lag to speak of.
    final_lag_s: quantiles(speed === 1 ? finals(frames).map((frame) => frame.receivedAt - frame.end) : []),
    ...partialsOf(frames),
  }
  if (json) console.log(JSON.stringify(report))
  else console.log(`${report.audio_s.toFixed(1)} s of audio in ${report.wall_s.toFixed(1)} s\n${report.text}`)
}

/** Transcribes every file that can be read; resolves to the exit code: 1 when one could not. */
export const transcribe = async (args: ReadonlyArray<string>): Promise<number> => {
  const { files, options } = optionsOf(args)
  // At full speed there is no time to be kept.
  const instance = await startThrowAwayInstance(options.speed === 1 ? {} : { STENOLOG_OVERCOMMIT: '0' })
  try {
    const client = await logIn(instance.url, instance.username, instance.password)
    let failed = 0
    for (const file of files)
      try {
        await transcribeFile(client, file, options)
      } catch (error) {
        failed = 1
        console.error(`${file}: ${messageOf(error)}`)
      }
    return failed
  } finally {
    await instance.dispose()
  }
}
