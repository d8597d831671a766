import { readFileSync } from 'node:fs'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'

interface Sentence {
  readonly text: string
  readonly start: number
  readonly end: number
}

interface SpokenSentence {
  readonly text: string
  readonly samples: Int16Array
}

/** Returns the sentences of the demo's sample: synthetic speech and its text. */
export const sampleSentences = async (): Promise<ReadonlyArray<SpokenSentence>> => {
  const stem = 'interfaces/cli/streaming/demo/sample'
  const description: unknown = JSON.parse(readFileSync(`${stem}.json`, 'utf8'))
  const { sentences } = description as { readonly sentences: ReadonlyArray<Sentence> }
  const all = await readAudioFile(`${stem}.flac`)
  const indexAt = (seconds: number): number => Math.round(seconds * 16000)
  return sentences.map(({ text, start, end }) =>
    ({ text, samples: all.slice(indexAt(start - 0.2), indexAt(end + 0.2)) }))
}

/** Digital silence. */
export const silence = (seconds: number): Int16Array => new Int16Array(Math.round(seconds * 16000))
