import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
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

export const DEMO_HELP = `stenolog demo [--report FILE]

Starts a throw-away instance, streams the bundled sample (synthetic speech) over the real WebSocket in real time, shows
the text as a listener sees it, in English and, under it, in Spanish where that translator is installed; then the
transcript, its word error rate, the delays and the history of the session.
--report FILE  also writes all of it as JSON`

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

const seconds = (value: number | null): string => (value === null ? '–' : `${value.toFixed(2)} s`)

const print = (report: ReturnType<typeof reportOf>): void => {
  console.log(`\nTranscript\n  ${report.transcript}`)
  console.log(`\nWord error rate  ${(report.wer * 100).toFixed(1)} % of ${report.words} words`)
  console.log(`First display    median ${seconds(report.first_display_s.median)}, p95 ${seconds(report.first_display_s.p95)} after the end of a word`)
  console.log(`Final            median ${seconds(report.final_delay_s.median)}, p95 ${seconds(report.final_delay_s.p95)} after the end of a phrase`)
  for (const [language, count] of Object.entries(report.translation_counts))
    console.log(`Translations     ${count} of ${report.segments.length} segments into ${language}, median ${seconds(report.translation_delay_s.median)} after the final`)
  console.log('\nThe session as events')
  for (const event of report.events) console.log(`  ${event.at}  ${event.stream.padEnd(12)}  ${event.type}`)
}

/** Runs the demo; resolves to the exit code. */
export const demo = async (args: ReadonlyArray<string>): Promise<number> => {
  const { values } = parseArgs({ args: [...args], options: { report: { type: 'string' } } })
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
    if (values.report !== undefined) await writeFile(values.report, `${JSON.stringify(report, null, 2)}\n`)
    return 0
  } finally {
    await instance.dispose()
  }
}
