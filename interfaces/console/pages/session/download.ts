import type { Caption } from '../../../client/captions.ts'
import type { LiveSession } from '../../../client/operations.ts'
import { call } from '../../state/api.ts'
import type { ReceivedText } from './received-text.ts'

export const FORMATS = ['json', 'txt', 'srt', 'vtt'] as const
export type Format = (typeof FORMATS)[number]

const twoDigits = (value: number): string => String(Math.floor(value)).padStart(2, '0')

/** Formats a subtitle time. SRT separates milliseconds with a comma, WebVTT with a full stop. */
const timestamp = (seconds: number, separator: ',' | '.'): string => {
  const [hours, minutes] = [seconds / 3600, (seconds % 3600) / 60]
  const milliseconds = String(Math.round((seconds % 1) * 1000) % 1000).padStart(3, '0')
  return `${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}${separator}${milliseconds}`
}

const textOf = (caption: Caption, language: string): string =>
  language === '' || language === caption.language ? caption.text : (caption.translations[language] ?? '')

/** In WebVTT `&` and `<` begin markup. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

type Escape = (text: string) => string

const subtitles = (
  lines: ReadonlyArray<Caption>,
  language: string,
  separator: ',' | '.',
  escape: Escape,
): string =>
  lines.map((line, i) => {
    const number = separator === ',' ? `${i + 1}\n` : ''
    const times = `${timestamp(line.start, separator)} --> ${timestamp(line.end, separator)}`
    return `${number}${times}\n${escape(textOf(line, language))}\n`
  }).join('\n')

/** Formats the text that this page received, for sessions whose text the service does not keep. */
const formatReceived = (lines: ReadonlyArray<Caption>, format: Format, language: string): string => {
  if (format === 'json') return JSON.stringify(lines, null, 2)
  if (format === 'txt') return lines.map((line) => `${textOf(line, language)}\n`).join('')
  // SRT has no escapes. A line with `-->` would be read as the times of a subtitle.
  if (format === 'srt') return subtitles(lines, language, ',', (text) => text.replaceAll('-->', '->'))
  return `WEBVTT\n\n${subtitles(lines, language, '.', escaped)}`
}

export interface DownloadOptions {
  readonly format: Format
  readonly language: string
  readonly chars: string
  readonly lines: string
}

const fromService = async (id: number, { format, language, chars, lines }: DownloadOptions): Promise<string> => {
  const query = {
    format, ...(language !== '' && { language }), ...(chars !== '' && { chars_per_line: Number(chars) }),
    ...(lines !== '' && { lines: Number(lines) }),
  }
  const answer = await call('getTranscript', { path: { id }, query })
  return typeof answer === 'string' ? answer : JSON.stringify(answer.data.transcript, null, 2)
}

export const download = async (
  live: LiveSession,
  { captions, isKept }: ReceivedText,
  options: DownloadOptions,
): Promise<void> => {
  const text = isKept
    ? await fromService(live.id, options)
    : formatReceived(captions.lines, options.format, options.language)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  link.download = `session-${live.id}.${options.format}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
