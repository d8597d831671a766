import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import * as t from 'io-ts'
import * as E from 'fp-ts/lib/Either.js'
import { readAudioFile } from '../../interfaces/cli/streaming/audio-file.ts'

/** The entries of a folder's manifest.json. Other members are ignored. */
const manifest = t.array(
  t.intersection([
    t.type({ file: t.string, language: t.string, text: t.string }),
    t.partial({
      /** Texts of other programs by their names. */
      others: t.record(t.string, t.string),
      /** Start, end and text of each word; times in seconds. */
      words: t.array(t.tuple([t.number, t.number, t.string])),
    }),
  ]),
)

/** A recording of speech with its reference text. */
export interface Recording {
  /** Folder and file name. Unique in a run. */
  readonly name: string
  readonly language: string
  readonly text: string
  readonly others: Readonly<Record<string, string>>
  readonly words: ReadonlyArray<readonly [start: number, end: number, text: string]>
  readonly samples: () => Promise<Int16Array>
}

/**
 * Reads the recordings of folders with a manifest.json, in the order of the manifests. Throws on an invalid manifest.
 */
export const readRecordings = async (folders: ReadonlyArray<string>): Promise<ReadonlyArray<Recording>> => {
  const lists = folders.map(async (folder) => {
    const decoded = manifest.decode(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
    if (E.isLeft(decoded)) throw new Error(`${join(folder, 'manifest.json')} is not a valid list of recordings`)
    return decoded.right.map(
      ({ file, language, text, others = {}, words = [] }): Recording => ({
        name: `${basename(resolve(folder))}/${file}`,
        language,
        text,
        others,
        words,
        samples: () => readAudioFile(join(folder, file)),
      }),
    )
  })
  return (await Promise.all(lists)).flat()
}
