import { UNSPACED } from '../../../../domain/transcript/unspaced.ts'
import type { HypothesisSegment } from '../../../ports/engine.ts'
import type { Word } from '../words.ts'
import { spokenForm } from '../words.ts'

/** A stretch of time in seconds. */
export interface Interval {
  readonly start: number
  readonly end: number
}

/** Silence in seconds that lies between words rather than inside one. */
const SHORTEST_PAUSE = 0.15
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Scripts without spaces are cut into graphemes, each with the marks that follow it; anything else stays whole. */
const unitsOf = (token: string): ReadonlyArray<string> => {
  if (!UNSPACED.test(token)) return [token]
  const units: Array<string> = []
  let open = false
  for (const { segment } of graphemes.segment(token)) {
    const alone = UNSPACED.test(segment)
    const letter = alone || /[\p{L}\p{N}]/u.test(segment)
    const last = units.at(-1)
    if (last === undefined || alone || (letter && !open)) units.push(segment)
    else units[units.length - 1] = last + segment
    open = letter && !alone
  }
  return units
}

/** The words of a text, each with its leading space where its script writes one. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.match(/\S+/gu) ?? []).flatMap((token, n) =>
    unitsOf(token).map((unit, i) => (i === 0 && (n > 0 || !UNSPACED.test(unit)) ? ` ${unit}` : unit)),
  )

const within = (regions: ReadonlyArray<Interval>, { start, end }: Interval): ReadonlyArray<Interval> =>
  regions.map((region) => ({ start: Math.max(region.start, start), end: Math.min(region.end, end) })).filter((part) => part.end > part.start)

/** The instant that lies `spoken` seconds of speech into `parts`; at a seam the end of the earlier part, or the start of the later. */
const instantAt = (parts: ReadonlyArray<Interval>, spoken: number, seam: 'end' | 'start'): number => {
  let left = spoken
  for (const part of parts) {
    const length = part.end - part.start
    if (left < length - 1e-9 || (seam === 'end' && left <= length + 1e-9)) return part.start + Math.max(0, Math.min(left, length))
    left -= length
  }
  return parts.at(-1)?.end ?? 0
}

/**
 * Boundaries between words, moved to the pause that they are next to: a word that would reach over a pause with less
 * than half of it belongs to one side.
 */
const atPauses = (boundaries: ReadonlyArray<number>, parts: ReadonlyArray<Interval>): ReadonlyArray<number> => {
  const moved = [...boundaries]
  let seam = 0
  for (const [i, part] of parts.slice(0, -1).entries()) {
    seam += part.end - part.start
    if ((parts[i + 1]?.start ?? 0) - part.end < SHORTEST_PAUSE) continue
    const after = moved.findIndex((at) => at > seam)
    const [before, behind] = [moved[after - 1], moved[after]]
    if (before === undefined || behind === undefined) continue
    const nearest = seam - before <= behind - seam ? after - 1 : after
    if (nearest > 0 && nearest < moved.length - 1) moved[nearest] = seam
  }
  return moved
}

const spread = (texts: ReadonlyArray<string>, parts: ReadonlyArray<Interval>): ReadonlyArray<Word> => {
  const weight = (text: string): number => [...spokenForm(text)].length
  const speech = parts.reduce((sum, part) => sum + part.end - part.start, 0)
  const perCharacter = speech / texts.reduce((sum, text) => sum + weight(text), 0)
  const boundaries = texts.reduce<ReadonlyArray<number>>((ends, text) => [...ends, (ends.at(-1) ?? 0) + weight(text) * perCharacter], [0])
  const settled = atPauses(boundaries, parts)
  return texts.map((text, i) => {
    const start = instantAt(parts, settled[i] ?? 0, 'start')
    return { text, start, end: Math.max(start, instantAt(parts, settled[i + 1] ?? speech, 'end')) }
  })
}

/**
 * Words with times from a model that times only segments: each segment's words share the speech inside it in
 * proportion to their characters. Words that would start after the end of the real audio were made up and are left out.
 *
 * @param regions speech in the audio, in seconds from its start
 * @param duration of the real audio, in seconds
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
