import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { DEMO } from '../commands/streaming.ts'
import { logIn } from './api-client.ts'
import { readAudioFile } from './audio-file.ts'
import type { HistoryEntry } from './history.ts'
import { historyOf } from './history.ts'
import { startThrowAwayInstance } from './instance.ts'
import { createLiveDisplay } from './live-display.ts'
import type { SpokenWord } from './live-report.ts'
import { delaysOf, finals, transcriptOf, translationsOf } from './live-report.ts'
import type { ReceivedFrame } from './live-stream.ts'
import { streamLive } from './live-stream.ts'
import { comparableWords, wordErrorRate } from '../../../domain/transcript/word-alignment.ts'

/** What the demo shows beside English. */
const TARGET = 'es'

const SAMPLE = join(import.meta.dirname, 'demo', 'sample')

const sampleFile = t.strict({
  sentences: t.readonlyArray(t.strict({ text: t.string, words: t.readonlyArray(t.tuple([t.string, t.number, t.number])) })),
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
  npm start                                     opens the service: its link leads to your microphone
  npm run stenolog -- models pull base          installs a model for real speech (docs/operate/models.md)
  npm run transcribe -- talk.mp3 --model base   transcribes your own recording`

const seconds = (value: number | null): string => (value === null ? '–' : `${value.toFixed(2)} s`)

const print = (report: ReturnType<typeof reportOf>): void => {
  console.log(`\nTranscript\n  ${report.transcript}`)
  console.log(`\nWord error rate  ${(report.wer * 100).toFixed(1)} % of ${report.words} words`)
  console.log(`First display    median ${seconds(report.first_display_s.median)}, p95 ${seconds(report.first_display_s.p95)} after the end of a word`)
  console.log(`Final            median ${seconds(report.final_delay_s.median)}, p95 ${seconds(report.final_delay_s.p95)} after the end of a phrase`)
  for (const [language, count] of Object.entries(report.translation_counts))
    console.log(`Translations     ${count} of ${report.segments.length} segments into ${language}, median ${seconds(report.translation_delay_s.median)} after the final`)
}

const printEvents = (report: ReturnType<typeof reportOf>): void => {
  console.log('\nThe session as events')
  for (const event of report.events) console.log(`  ${event.at}  ${event.stream.padEnd(12)}  ${event.type}`)
}

/** Runs the demo; resolves to the exit code. */
export const demo = async (args: ReadonlyArray<string>): Promise<number> => {
  const { options } = readArguments(DEMO, args)
  const sample = decodeOrThrow(sampleFile, JSON.parse(await readFile(`${SAMPLE}.json`, 'utf8')))
  const samples = await readAudioFile(`${SAMPLE}.flac`)

  const instance = await startThrowAwayInstance()
  try {
    console.log(`Stenolog runs at ${instance.url}; streaming ${Math.round(samples.length / 16000)} s of synthetic speech in real time.\n`)
    const client = await logIn(instance.url, instance.username, instance.password)
    const translations = (await client.targetsOf('en')).filter((code) => code === TARGET)
    const live = await client.createLive({ model: 'demo-en', language: 'en', translations })
    const frames = await streamLive(client, live, samples, { speed: 1, onFrame: createLiveDisplay(process.stdout) })
    await instance.stop()
    const report = reportOf(sample, frames, await historyOf(instance.dataDirectory, live.id))
    print(report)
    if (options.events) printEvents(report)
    if (options.report !== undefined) await writeFile(options.report, `${JSON.stringify(report, null, 2)}\n`)
    console.log(NEXT_STEPS)
    return 0
  } finally {
    await instance.dispose()
  }
}
