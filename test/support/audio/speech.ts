import { readFileSync } from 'node:fs'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'

interface Sentence {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** The demo's sample, cut into sentences of synthetic speech. */
export const sampleSentences = async (): Promise<ReadonlyArray<{ readonly text: string; readonly samples: Int16Array }>> => {
  const stem = 'interfaces/cli/streaming/demo/sample'
  const { sentences } = JSON.parse(readFileSync(`${stem}.json`, 'utf8')) as { readonly sentences: ReadonlyArray<Sentence> }
  const all = await readAudioFile(`${stem}.flac`)
  const at = (seconds: number): number => Math.round(seconds * 16000)
  return sentences.map(({ text, start, end }) => ({ text, samples: all.slice(at(start - 0.2), at(end + 0.2)) }))
}

/** Digital silence. */
export const silence = (seconds: number): Int16Array => new Int16Array(Math.round(seconds * 16000))
