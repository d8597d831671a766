import { stat, writeFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { toSubRip, toWebVtt } from '../../../domain/transcript/subtitles.ts'
import { CommandError, quoted } from '../../command-error.ts'

interface Segment {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** What subtitles usually have room for, as in the transcripts of the service. */
const SHAPE = { maxChars: 42, maxLines: 2 }

const contentOf = (file: string, report: { readonly segments: ReadonlyArray<Segment> }): string => {
  const segments = report.segments.map(({ start, end, text }) => ({ start, end, text: text.replaceAll('\n', ' ') }))
  switch (extname(file).toLowerCase()) {
    case '.srt':
      return toSubRip(segments, SHAPE)
    case '.vtt':
      return toWebVtt(segments, SHAPE)
    case '.txt':
      return segments.map(({ text }) => `${text}\n`).join('')
    default:
      return `${JSON.stringify(report, null, 2)}\n`
  }
}

/** Before anything is heard: throws a CommandError where the file could not be written afterwards. */
export const requireFolderOf = async (file: string): Promise<void> => {
  const folder = await stat(dirname(file)).catch(() => null)
  if (folder?.isDirectory() !== true) throw new CommandError(`There is no folder ${quoted(dirname(file))}.`, { hint: `mkdir -p ${dirname(file)}` })
}

/** Writes a transcript as subtitles, text or JSON, by the ending of the file's name. */
export const writeTranscript = (file: string, report: { readonly segments: ReadonlyArray<Segment> }): Promise<void> =>
  writeFile(file, contentOf(file, report))
