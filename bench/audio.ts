import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SAMPLE_RATE } from '../application/ports/engine.ts'
import type { Logger } from '../application/ports/environment.ts'
import { readAudioFile } from '../interfaces/cli/streaming/audio-file.ts'

export const ROOT = join(import.meta.dirname, '..')
const SAMPLE = join(ROOT, 'interfaces/cli/streaming/demo/sample')

export const QUIET: Logger = { info: () => undefined, warn: console.warn, error: console.error }

/** A spoken sentence with its start and end, in seconds. */
export interface Sentence {
  readonly start: number
  readonly end: number
}

interface Sentences {
  readonly sentences: ReadonlyArray<Sentence>
}

/** Reads the demo's minute of speech and the times of its sentences. */
export const demoSpeech = async (): Promise<Sentences & { readonly samples: Int16Array }> => {
  const { sentences } = JSON.parse(await readFile(`${SAMPLE}.json`, 'utf8')) as Sentences
  return { samples: await readAudioFile(`${SAMPLE}.flac`), sentences }
}

/**
 * Makes loud noise, then chords with overtones and vibrato, then both together clipped at full scale, each for two
 * seconds and again from the start. Every call returns equal samples.
 */
export const garbage = (seconds: number): Int16Array => {
  let state = 1
  const noise = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x40000000 - 1
  }
  const tone = (at: number, hertz: number): number =>
    [1, 2, 3].reduce((sum, overtone) => {
      const vibrato = 0.5 * Math.sin(2 * Math.PI * 5 * at)
      return sum + Math.sin(2 * Math.PI * overtone * hertz * at + vibrato) / overtone
    }, 0)
  const chord = (at: number): number =>
    [0, 4, 7].reduce((sum, step) => sum + tone(at, 196 * 2 ** ((step + (Math.floor(at * 4) % 5)) / 12)), 0) / 5
  const kinds = [
    (): number => noise() * 0.9,
    (at: number): number => chord(at) * 0.8,
    (at: number): number => (chord(at) + noise()) * 4,
  ]
  return Int16Array.from({ length: seconds * SAMPLE_RATE }, (_, index) => {
    const at = index / SAMPLE_RATE
    return Math.max(-1, Math.min(1, kinds[Math.floor(at / 2) % kinds.length]?.(at) ?? 0)) * 32_767
  })
}
