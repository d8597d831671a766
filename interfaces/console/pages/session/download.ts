import type { Caption } from '../../../client/captions.ts'
import type { LiveSession } from '../../../client/operations.ts'
import { call } from '../../state/api.ts'
import type { Heard } from './listening.ts'

export const FORMATS = ['json', 'txt', 'srt', 'vtt'] as const
export type Format = (typeof FORMATS)[number]

const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
const stamp = (seconds: number, mark: string): string =>
  `${two(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}${mark}${String(Math.round((seconds % 1) * 1000) % 1000).padStart(3, '0')}`

const textOf = (caption: Caption, language: string): string =>
  language === '' || language === caption.language ? caption.text : (caption.translations[language] ?? '')

/** `&` and `<` would be markup. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const subtitles = (lines: ReadonlyArray<Caption>, language: string, mark: string, form: (text: string) =>
  string): string =>
  lines.map((line, i) =>
    `${mark === ',' ? `${i + 1}\n`
      : ''}${stamp(line.start, mark)} --> ${stamp(line.end, mark)}\n${form(textOf(line, language))}\n`).join('\n')

/** What this page has received, where the service keeps nothing. */
const received = (lines: ReadonlyArray<Caption>, format: Format, language: string): string => {
  if (format === 'json') return JSON.stringify(lines, null, 2)
  if (format === 'txt') return lines.map((line) => `${textOf(line, language)}\n`).join('')
  if (format === 'srt') return subtitles(lines, language, ',', (text) => text.replaceAll('-->', '->'))
  return `WEBVTT\n\n${subtitles(lines, language, '.', escaped)}`
}

export interface Wanted {
  readonly format: Format
  readonly language: string
  readonly chars: string
  readonly lines: string
}

const fromService = async (id: number, { format, language, chars, lines }: Wanted): Promise<string> => {
  const query = {
    format, ...(language !== '' && { language }), ...(chars !== '' && { chars_per_line: Number(chars) }),
    ...(lines !== '' && { lines: Number(lines) }),
  }
  const answer = await call('getTranscript', { path: { id }, query })
  return typeof answer === 'string' ? answer : JSON.stringify(answer.data.transcript, null, 2)
}

/** Hands a file to the browser. */
export const download = async (live: LiveSession, { captions, isKept }: Heard, wanted: Wanted): Promise<void> => {
  const text = isKept ? await fromService(live.id, wanted) : received(captions.lines, wanted.format, wanted.language)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  link.download = `session-${live.id}.${wanted.format}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
