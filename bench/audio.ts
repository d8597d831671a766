import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../application/ports/environment.ts'
import { readAudioFile } from '../interfaces/cli/audio-file.ts'

export const ROOT = join(import.meta.dirname, '..')
const SAMPLE = join(ROOT, 'interfaces/cli/demo/sample')

export const QUIET: Logger = { info: () => undefined, warn: console.warn, error: console.error }

/** Where somebody speaks, in seconds. */
export interface Sentence {
  readonly start: number
  readonly end: number
}

/** The demo's minute of speech, and where its sentences lie. */
export const demoSpeech = async (): Promise<{ readonly samples: Int16Array; readonly sentences: ReadonlyArray<Sentence> }> => {
  const { sentences } = JSON.parse(await readFile(`${SAMPLE}.json`, 'utf8')) as { readonly sentences: ReadonlyArray<Sentence> }
  return { samples: await readAudioFile(`${SAMPLE}.flac`), sentences }
}
