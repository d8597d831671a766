import { stat } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { toSubRip, toWebVtt } from '../../../domain/transcript/subtitles.ts'
import { CommandError, quoted } from '../../command-error.ts'
import { writeUsersFile } from '../../umask.ts'

interface Segment {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The usual size of subtitles. The service's transcripts use the same values. */
const SUBTITLE_SIZE = { maxChars: 42, maxLines: 2 }

const contentOf = (file: string, report: { readonly segments: ReadonlyArray<Segment> }): string => {
  const segments = report.segments.map(({ start, end, text }) => ({ start, end, text: text.replaceAll('\n', ' ') }))
  switch (extname(file).toLowerCase()) {
    case '.srt':
      return toSubRip(segments, SUBTITLE_SIZE)
    case '.vtt':
      return toWebVtt(segments, SUBTITLE_SIZE)
    case '.txt':
      return segments.map(({ text }) => `${text}\n`).join('')
    default:
      return `${JSON.stringify(report, null, 2)}\n`
  }
}

/** Throws a CommandError when the folder of the file does not exist. Called early, before the long transcription. */
export const requireFolderOf = async (file: string): Promise<void> => {
  const folder = await stat(dirname(file)).catch(() => null)
  if (folder?.isDirectory() !== true)
    throw new CommandError(`There is no folder ${quoted(dirname(file))}.`, { hint: `mkdir -p ${dirname(file)}` })
}

/** Writes a transcript as subtitles, text or JSON. The ending of the file name selects the format. */
export const writeTranscript = (file: string, report: { readonly segments: ReadonlyArray<Segment> }): void =>
  writeUsersFile(file, contentOf(file, report))
