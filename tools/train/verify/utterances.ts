import { open, readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'

export interface Utterance {
  readonly id: string
  /** Mono samples at 16 kHz. */
  readonly samples: Int16Array
}

const corpusRow = t.type({ offset: t.number, samples: t.number })
const BYTES_PER_SAMPLE = 2

const ofFolder = async (folder: string, count: number): Promise<ReadonlyArray<Utterance>> => {
  const files = (await readdir(folder)).filter((file) => /\.(flac|wav)$/.test(file)).toSorted()
  return Promise.all(files.slice(0, count).map(async (id) => ({ id, samples: await readAudioFile(join(folder, id)) })))
}

/** Reads a corpus of speech/corpus.py: PREFIX.jsonl contains the place of each utterance in PREFIX.raw. */
const ofCorpus = async (index: string, count: number): Promise<ReadonlyArray<Utterance>> => {
  const lines = (await readFile(index, 'utf8')).split('\n').filter((line) => line !== '')
  await using raw = await open(index.replace(/\.jsonl$/, '.raw'))
  const utterances: Utterance[] = []
  for (const [number, line] of lines.slice(0, count).entries()) {
    const { offset, samples } = decodeOrThrow(corpusRow, JSON.parse(line))
    const bytes = new Uint8Array(samples * BYTES_PER_SAMPLE)
    await raw.read(bytes, 0, bytes.length, offset * BYTES_PER_SAMPLE)
    utterances.push({ id: String(number), samples: new Int16Array(bytes.buffer) })
  }
  return utterances
}

/**
 * Reads the first `count` utterances of a folder of FLAC or WAV files (sorted by name) or of a corpus (PREFIX.jsonl).
 */
export const readUtterances = async (path: string, count: number): Promise<ReadonlyArray<Utterance>> =>
  (await stat(path)).isDirectory() ? ofFolder(path, count) : ofCorpus(path, count)
