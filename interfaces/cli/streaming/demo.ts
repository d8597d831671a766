import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'io-ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { writeUsersFile } from '../../umask.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { DEMO } from '../commands/streaming.ts'
import { logIn } from './api-client.ts'
import { readAudioFile } from './audio-file.ts'
import { type HistoryEntry, historyOf } from './history.ts'
import { startThrowAwayInstance } from './instance.ts'
import { createLiveDisplay } from './live-display.ts'
import { delaysOf, finals, type Quantiles, type SpokenWord, transcriptOf, translationsOf } from './live-report.ts'
import { type ReceivedFrame, streamLive } from './live-stream.ts'
import { comparableWords, wordErrorRate } from '../../../domain/transcript/word-alignment.ts'

const TARGET_LANGUAGE = 'es'

const SAMPLE = join(import.meta.dirname, 'demo', 'sample')

const sampleFile = t.strict({
  sentences: t.readonlyArray(t.strict({
    text: t.string,
    /** Each word with its start and end, in seconds. */
    words: t.readonlyArray(t.tuple([t.string, t.number, t.number])),
  })),
})
type Sample = t.TypeOf<typeof sampleFile>

const spokenWords = (sample: Sample): ReadonlyArray<SpokenWord> =>
  sample.sentences.flatMap(({ words }) =>
    words.flatMap(([text, , end], index) =>
      comparableWords(text).map((word) => ({ word, end, closesPhrase: index === words.length - 1 })),
    ),
  )

const reportOf = (sample: Sample, frames: ReadonlyArray<ReceivedFrame>, events: ReadonlyArray<HistoryEntry>) => {
  const reference = sample.sentences.map(({ text }) => text).join(' ')
  const transcript = transcriptOf(frames)
  const segment = ({ start, end, text, language }: ReceivedFrame) => ({ start, end, text, language })
  return {
    wer: wordErrorRate(reference, transcript),
    words: comparableWords(reference).length,
    ...delaysOf(spokenWords(sample), frames),
    reference,
    transcript,
    segments: finals(frames).map(segment),
    translations: finals(frames, 'translation').map(segment),
    ...translationsOf(frames),
    events,
  }
}

const NEXT_STEPS = `
Next
  npm start                                     starts the service; open its link and speak
  npm run stenolog -- models pull base          installs a model for human speech (docs/operate/models.md)
  npm run transcribe -- talk.mp3 --model base   transcribes your own recording`

const seconds = (value: number | null): string => (value === null ? '–' : `${value.toFixed(2)} s`)

const delayText = ({ median, p95 }: Quantiles): string => `median ${seconds(median)}, p95 ${seconds(p95)}`

const print = (report: ReturnType<typeof reportOf>): void => {
  console.log(`\nTranscript\n  ${report.transcript}`)
  console.log(`\nWord error rate  ${(report.wer * 100).toFixed(1)} % of ${report.words} words`)
  console.log(`First display    ${delayText(report.first_display_s)} after the end of a word`)
  console.log(`Final            ${delayText(report.final_delay_s)} after the end of a phrase`)
  const translationDelay = seconds(report.translation_delay_s.median)
  for (const [language, count] of Object.entries(report.translation_counts)) {
    const segments = `${count} of ${report.segments.length} segments into ${language}`
    console.log(`Translations     ${segments}, median ${translationDelay} after the final`)
  }
}

const printEvents = (report: ReturnType<typeof reportOf>): void => {
  console.log('\nStored events of the session')
  for (const event of report.events) console.log(`  ${event.at}  ${event.stream.padEnd(12)}  ${event.type}`)
}

/** Runs `stenolog demo`. Resolves to the exit code. */
export const demo = async (args: ReadonlyArray<string>): Promise<number> => {
  const { options } = readArguments(DEMO, args)
  const sample = decodeOrThrow(sampleFile, JSON.parse(await readFile(`${SAMPLE}.json`, 'utf8')))
  const samples = await readAudioFile(`${SAMPLE}.flac`)

  const instance = await startThrowAwayInstance()
  try {
    const duration = Math.round(samples.length / SAMPLE_RATE)
    console.log(`Stenolog runs at ${instance.url}. Streaming ${duration} s of synthetic speech in real time.\n`)
    const client = await logIn(instance.url, instance.username, instance.password)
    const translations = (await client.targetsOf('en')).filter((code) => code === TARGET_LANGUAGE)
    const live = await client.createLive({ model: 'demo-en', language: 'en', translations })
    const frames = await streamLive(client, live, samples, { speed: 1, onFrame: createLiveDisplay(process.stdout) })
    await instance.stop()
    const report = reportOf(sample, frames, await historyOf(instance.dataDirectory, live.id))
    print(report)
    if (options.events) printEvents(report)
    if (options.report !== undefined) writeUsersFile(options.report, `${JSON.stringify(report, null, 2)}\n`)
    console.log(NEXT_STEPS)
    return 0
  } finally {
    await instance.dispose()
  }
}
