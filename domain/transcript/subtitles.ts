import { type CaptionShape, splitIntoCaptions } from './captions.ts'
import type { SegmentFinalised } from './events.ts'
import { columnsOf } from './widths.ts'

export type TranscriptSegment = SegmentFinalised['data']

/**
 * One caption of a subtitle file, from `from` to `to`. Both are whole milliseconds from the first audio. `to` is after
 * `from`, and the cues of a file never overlap.
 */
interface Cue {
  readonly from: number
  readonly to: number
  /** Lines separated by `\n`, at most `maxLines` of the shape. No line is empty. */
  readonly text: string
}

type Timed = Pick<TranscriptSegment, 'start' | 'end' | 'text'>

const milliseconds = (seconds: number): number => Math.round(seconds * 1000)

/** Replaces control characters, which could end a line or a file. Marks for right-to-left text stay. */
const withoutControls = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ')

/** Splits a segment into captions. Each caption gets time in proportion to its text. */
const captionsOf = ({ start, end, text }: Timed, shape: CaptionShape): ReadonlyArray<Cue> => {
  const plain = withoutControls(text)
  const [from, length] = [milliseconds(start), milliseconds(end) - milliseconds(start)]
  const at = (index: number): number => from + Math.round((length * index) / plain.length)
  const captions = splitIntoCaptions(plain, shape)
  return captions.map(({ caption, from: first }, index) => {
    const next = captions[index + 1]
    const begin = index === 0 ? from : at(first)
    return { from: begin, to: next === undefined ? from + length : at(next.from), text: caption }
  })
}

/** Time between two cues, so that a viewer sees the change: two frames at 25 frames a second. */
const GAP_MS = 80
const MIN_CUE_MS = 1000
const COLUMNS_PER_SECOND = 17

/** The time that a viewer needs to read a cue. */
const readingTime = (text: string): number =>
  Math.max(MIN_CUE_MS, Math.ceil((columnsOf(text) * 1000) / COLUMNS_PER_SECOND))

/**
 * Converts segments, sorted by time, to cues. A cue that is too short to be read lasts into the free time after it. It
 * ends at least `GAP_MS` before the next one. A cue that has no time lasts one millisecond.
 */
const cuesOf = (segments: ReadonlyArray<Timed>, shape: CaptionShape): ReadonlyArray<Cue> => {
  const raw = segments.flatMap((segment) => captionsOf(segment, shape))
  const cues: Array<Cue> = []
  for (const [index, { from, to, text }] of raw.entries()) {
    const begin = Math.max(from, (cues.at(-1)?.to ?? -GAP_MS) + GAP_MS)
    const limit = (raw[index + 1]?.from ?? Infinity) - GAP_MS
    cues.push({ from: begin, to: Math.max(begin + 1, Math.min(Math.max(to, begin + readingTime(text)), limit)), text })
  }
  return cues
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')

const timestamp = (ms: number, mark: ',' | '.'): string => {
  const seconds = Math.floor(ms / 1000)
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(twoDigits).join(':')
  return `${clock}${mark}${String(ms % 1000).padStart(3, '0')}`
}

const ZERO_WIDTH_SPACE = '\u200B'

/**
 * Inserts an invisible character that stops players from reading text as a tag, a style override or a line of times,
 * because SubRip has no escapes.
 */
const subRipText = (text: string): string =>
  text.replaceAll(/<(?=[\p{L}/!?])|\{(?=\\)|--(?=>)/gu, (mark) => `${mark}${ZERO_WIDTH_SPACE}`)

/** Escapes `&` and `<`, as W3C WebVTT 1.0, section 3.1 requires, and `>`, so no text contains the arrow `-->`. */
const webVttText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const timeLine = ({ from, to }: Cue, mark: ',' | '.'): string => `${timestamp(from, mark)} --> ${timestamp(to, mark)}`

export const toSubRip = (segments: ReadonlyArray<Timed>, shape: CaptionShape): string =>
  cuesOf(segments, shape)
    .map((cue, index) => `${index + 1}\n${timeLine(cue, ',')}\n${subRipText(cue.text)}\n`)
    .join('\n')

export const toWebVtt = (segments: ReadonlyArray<Timed>, shape: CaptionShape): string =>
  ['WEBVTT\n', ...cuesOf(segments, shape).map((cue) => `${timeLine(cue, '.')}\n${webVttText(cue.text)}\n`)].join('\n')
