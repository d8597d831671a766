import { splitIntoCaptions } from './captions.ts'
import type { CaptionShape } from './captions.ts'
import type { SegmentFinalised } from './events.ts'

export type TranscriptSegment = SegmentFinalised['data']

/** One caption of a subtitle file: whole milliseconds, `to` after `from`, never before the end of the cue before it. */
interface Cue {
  readonly from: number
  readonly to: number
  /** At most the lines of the shape, broken with `\n`; none of them is empty. */
  readonly text: string
}

type Timed = Pick<TranscriptSegment, 'start' | 'end' | 'text'>

const milliseconds = (seconds: number): number => Math.round(seconds * 1000)

/** Controls would end a line or a file where no reader expects it; marks that order text from right to left are none of them. */
const withoutControls = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ')

/** A segment as captions, each with its share of the time by its share of the text. */
const captionsOf = ({ start, end, text }: Timed, shape: CaptionShape): ReadonlyArray<Cue> => {
  const plain = withoutControls(text)
  const [from, length] = [milliseconds(start), milliseconds(end) - milliseconds(start)]
  const at = (index: number): number => from + Math.round((length * index) / plain.length)
  const captions = splitIntoCaptions(plain, shape)
  return captions.map(({ caption, from: first }, index) => {
    const next = captions[index + 1]
    return { from: index === 0 ? from : at(first), to: next === undefined ? from + length : at(next.from), text: caption }
  })
}

/**
 * The cues of segments that come in the order of their times. None overlaps the next and none is empty, whatever the
 * times of the segments: one that reaches into the next is cut there, and one without a length lasts a millisecond.
 */
const cuesOf = (segments: ReadonlyArray<Timed>, shape: CaptionShape): ReadonlyArray<Cue> => {
  const raw = segments.flatMap((segment) => captionsOf(segment, shape))
  const cues: Array<Cue> = []
  for (const [index, { from, to, text }] of raw.entries()) {
    const begin = Math.max(from, cues.at(-1)?.to ?? 0)
    const limit = raw[index + 1]?.from ?? Infinity
    cues.push({ from: begin, to: Math.max(begin + 1, Math.min(to, limit)), text })
  }
  return cues
}

const two = (value: number): string => String(value).padStart(2, '0')

const timestamp = (ms: number, mark: ',' | '.'): string => {
  const seconds = Math.floor(ms / 1000)
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':')
  return `${clock}${mark}${String(ms % 1000).padStart(3, '0')}`
}

const ZERO_WIDTH_SPACE = '\u200B'

/** SubRip has no escapes: an invisible character keeps players from taking text for a tag, an override or a time line. */
const subRipText = (text: string): string =>
  text.replaceAll(/<(?=[\p{L}/!?])|\{(?=\\)|--(?=>)/gu, (mark) => `${mark}${ZERO_WIDTH_SPACE}`)

/** W3C WebVTT 1.0, 3.1: `&` and `<` have to be escaped; without `>` no text holds an arrow either. */
const webVttText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** The segments as a SubRip file (.srt), in UTF-8. */
export const toSubRip = (segments: ReadonlyArray<Timed>, shape: CaptionShape): string =>
  cuesOf(segments, shape)
    .map(({ from, to, text }, index) => `${index + 1}\n${timestamp(from, ',')} --> ${timestamp(to, ',')}\n${subRipText(text)}\n`)
    .join('\n')

/** The segments as a WebVTT file (.vtt), in UTF-8. */
export const toWebVtt = (segments: ReadonlyArray<Timed>, shape: CaptionShape): string =>
  ['WEBVTT\n', ...cuesOf(segments, shape).map(({ from, to, text }) => `${timestamp(from, '.')} --> ${timestamp(to, '.')}\n${webVttText(text)}\n`)].join('\n')
