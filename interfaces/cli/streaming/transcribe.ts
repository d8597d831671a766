import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { CommandError, errorLines, usageError } from '../../command-error.ts'
import type { Values } from '../commands/command.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { TRANSCRIBE } from '../commands/streaming.ts'
import { notInstalled } from '../models/installed.ts'
import { type ApiClient, logIn } from './api-client.ts'
import { readAudioFile } from './audio-file.ts'
import { startThrowAwayInstance } from './instance.ts'
import { createLiveDisplay } from './live-display.ts'
import { finals, partialsOf, quantiles, transcriptOf } from './live-report.ts'
import { streamLive } from './live-stream.ts'
import { requireFolderOf, writeTranscript } from './transcript-file.ts'

type Options = Values<typeof TRANSCRIBE>

const clockOf = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${Math.floor(seconds % 60).toString().padStart(2, '0')}`

const speedOf = ({ speed }: Options): number => (speed === 'max' ? Infinity : 1)

const transcribeFile = async (client: ApiClient, file: string, options: Options): Promise<void> => {
  const { model, language, mode, json, output } = options
  const speed = speedOf(options)
  const samples = await readAudioFile(file, {
    track: options.track === undefined ? null : Number(options.track),
    damaged: (at) => console.error(`${file}: some audio at ${clockOf(at)} could not be decoded and is left out.`),
  })
  const live = await client.createLive({ model, language, config: { mode } })
  const begin = performance.now()
  if (!json) console.log(`\n${file}`)
  const display = json ? {} : { onFrame: createLiveDisplay(process.stdout) }
  const frames = await streamLive(client, live, samples, { speed, ...display })
  const report = {
    file,
    model,
    language,
    text: transcriptOf(frames),
    segments: finals(frames).map(({ start, end, text }) => ({ start, end, text })),
    audio_s: samples.length / SAMPLE_RATE,
    wall_s: Math.round(performance.now() - begin) / 1000,
    first_text_s: frames[0]?.receivedAt ?? null,
    // The lag is measured only in real time. At full speed the text arrives before its audio would have been spoken.
    final_lag_s: quantiles(speed === 1 ? finals(frames).map((frame) => frame.receivedAt - frame.end) : []),
    ...partialsOf(frames),
  }
  if (output !== undefined) writeTranscript(output, report)
  if (json) console.log(JSON.stringify(report))
  else console.log(`${report.audio_s.toFixed(1)} s of audio in ${report.wall_s.toFixed(1)} s\n${report.text}`)
  if (report.segments.length === 0) console.error(`${file}: no speech was found.`)
  if (output !== undefined) console.error(`Text written to ${output}`)
}

/** Runs `stenolog transcribe`. Continues after a file that fails. Resolves to the exit code: 1 when a file failed. */
export const transcribe = async (args: ReadonlyArray<string>): Promise<number> => {
  const { operands: files, options } = readArguments(TRANSCRIBE, args)
  if (options.output !== undefined && files.length > 1)
    throw usageError(
      '--output needs exactly one audio file.',
      `npm run transcribe -- ${files[0] ?? ''} --output ${options.output}`,
    )
  if (options.output !== undefined) await requireFolderOf(options.output)
  // At full speed no deadline applies, so the service admits the session without a check of its computing power.
  const instance = await startThrowAwayInstance(options.speed === '1' ? {} : { STENOLOG_OVERCOMMIT: '0' })
  try {
    const client = await logIn(instance.url, instance.username, instance.password)
    const models = await client.activeModels()
    if (!models.includes(options.model)) throw notInstalled(options.model, models)
    let failed = 0
    for (const file of files)
      try {
        await transcribeFile(client, file, options)
      } catch (error) {
        failed = 1
        console.error(error instanceof CommandError ? errorLines(error) : errorLines(error, file))
      }
    return failed
  } finally {
    await instance.dispose()
  }
}
