import { UNSPACED } from '../../../../domain/transcript/unspaced.ts'
import type { HypothesisSegment } from '../../../ports/engine.ts'
import { spokenForm, type Word } from '../words.ts'

/** An interval in seconds. */
export interface Interval {
  readonly start: number
  readonly end: number
}

/** A silence of at least this length lies between words, not inside a word. */
const MIN_PAUSE_SECONDS = 0.15
/** Tolerance for rounding errors when speech times are added. */
const ROUNDING_SECONDS = 1e-9
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Splits a token of a script without spaces into graphemes with their following marks. Other tokens stay whole. */
const unitsOf = (token: string): ReadonlyArray<string> => {
  if (!UNSPACED.test(token)) return [token]
  const units: Array<string> = []
  /** True inside a run of letters of a script with spaces, which stays one unit. */
  let isInWord = false
  for (const { segment } of graphemes.segment(token)) {
    const isUnspaced = UNSPACED.test(segment)
    const isLetter = isUnspaced || /[\p{L}\p{N}]/u.test(segment)
    const last = units.at(-1)
    if (last === undefined || isUnspaced || (isLetter && !isInWord)) units.push(segment)
    else units[units.length - 1] = last + segment
    isInWord = isLetter && !isUnspaced
  }
  return units
}

/** Splits a text into words, with their leading spaces in scripts with spaces. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.match(/\S+/gu) ?? []).flatMap((token, n) =>
    unitsOf(token).map((unit, i) => (i === 0 && (n > 0 || !UNSPACED.test(unit)) ? ` ${unit}` : unit)),
  )

const within = (regions: ReadonlyArray<Interval>, { start, end }: Interval): ReadonlyArray<Interval> =>
  regions
    .map((region) => ({ start: Math.max(region.start, start), end: Math.min(region.end, end) }))
    .filter((part) => part.end > part.start)

/**
 * Returns the time after `spoken` seconds of speech in `parts`. Between two parts, `end` returns the end of the earlier
 * part and `start` the start of the later part.
 */
const instantAt = (parts: ReadonlyArray<Interval>, spoken: number, boundary: 'end' | 'start'): number => {
  let rest = spoken
  for (const part of parts) {
    const length = part.end - part.start
    const isInside = rest < length - ROUNDING_SECONDS || (boundary === 'end' && rest <= length + ROUNDING_SECONDS)
    if (isInside) return part.start + Math.max(0, Math.min(rest, length))
    rest -= length
  }
  return parts.at(-1)?.end ?? 0
}

/** Moves word boundaries to a neighbouring pause, so no word extends over a pause. */
const atPauses = (boundaries: ReadonlyArray<number>, parts: ReadonlyArray<Interval>): ReadonlyArray<number> => {
  const moved = [...boundaries]
  let seam = 0
  for (const [i, part] of parts.slice(0, -1).entries()) {
    seam += part.end - part.start
    if ((parts[i + 1]?.start ?? 0) - part.end < MIN_PAUSE_SECONDS) continue
    const after = moved.findIndex((at) => at > seam)
    const [earlier, later] = [moved[after - 1], moved[after]]
    if (earlier === undefined || later === undefined) continue
    const nearest = seam - earlier <= later - seam ? after - 1 : after
    if (nearest > 0 && nearest < moved.length - 1) moved[nearest] = seam
  }
  return moved
}

/** Gives words times within the speech `parts`, in proportion to their characters. */
const spread = (texts: ReadonlyArray<string>, parts: ReadonlyArray<Interval>): ReadonlyArray<Word> => {
  const weight = (text: string): number => [...spokenForm(text)].length
  const speech = parts.reduce((sum, part) => sum + part.end - part.start, 0)
  const perCharacter = speech / texts.reduce((sum, text) => sum + weight(text), 0)
  const boundaries = texts.reduce<ReadonlyArray<number>>(
    (ends, text) => [...ends, (ends.at(-1) ?? 0) + weight(text) * perCharacter],
    [0],
  )
  const moved = atPauses(boundaries, parts)
  return texts.map((text, i) => {
    const start = instantAt(parts, moved[i] ?? 0, 'start')
    return { text, start, end: Math.max(start, instantAt(parts, moved[i + 1] ?? speech, 'end')) }
  })
}

/**
 * Estimates word times for a model that times only segments. The words of a segment share its speech in proportion to
 * their characters. Segments after the end of the audio are invented by the model and are dropped.
 *
 * @param regions speech in the audio, in seconds from its start
 * @param duration length of the audio, in seconds
 */
export const timeWords = (
  segments: ReadonlyArray<HypothesisSegment>,
  regions: ReadonlyArray<Interval>,
  duration: number,
): ReadonlyArray<Word> =>
  segments.flatMap(({ start, end, text }) => {
    const texts = wordsOf(text)
    const own = { start: Math.min(Math.max(0, start), duration), end: Math.min(Math.max(start, end), duration) }
    if (texts.length === 0 || start >= duration) return []
    const parts = within(regions, own)
    return spread(texts, parts.length === 0 ? [own] : parts)
  })
