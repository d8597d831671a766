import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import * as t from 'io-ts'
import * as E from 'fp-ts/lib/Either.js'
import { readAudioFile } from '../../interfaces/cli/streaming/audio-file.ts'

/** What a folder's manifest.json says of each recording; other members are ignored. */
const manifest = t.array(
  t.intersection([
    t.type({ file: t.string, language: t.string, text: t.string }),
    t.partial({
      /** What other programs made of it, by their names. */
      others: t.record(t.string, t.string),
      /** When its words were spoken, in seconds. */
      words: t.array(t.tuple([t.number, t.number, t.string])),
    }),
  ]),
)

/** A recording of somebody who speaks, and what was said. */
export interface Recording {
  /** Folder and file: unique in a run. */
  readonly name: string
  readonly language: string
  readonly text: string
  readonly others: Readonly<Record<string, string>>
  readonly words: ReadonlyArray<readonly [start: number, end: number, text: string]>
  readonly samples: () => Promise<Int16Array>
}

/** The recordings of folders with a manifest.json each, in its order. */
export const readRecordings = async (folders: ReadonlyArray<string>): Promise<ReadonlyArray<Recording>> => {
  const lists = folders.map(async (folder) => {
    const decoded = manifest.decode(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
    if (E.isLeft(decoded)) throw new Error(`${join(folder, 'manifest.json')} does not list recordings`)
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
