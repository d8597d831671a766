import { alignWords } from '../../domain/transcript/word-alignment.ts'
import type { Frame } from './live.ts'
import { soundingPart } from './quiet.ts'
import type { Quiet } from './quiet.ts'
import { joined } from './screen.ts'
import type { SpokenWord } from './screen.ts'

/** What ended a segment: a pause of `buffer_timeout` or more behind its last word, the end of the audio, or neither. */
export type SegmentEnd = 'pause' | 'running' | 'audio'

/** Seconds from the end of a segment's last word to its final. */
export interface FinalLag {
  readonly lag: number
  readonly end: SegmentEnd
  /** Seconds of audio that had been spoken when the final came. */
  readonly at: number
}

type Final = Pick<Frame, 'at' | 'end' | 'text'>

/** What a recording tells of when somebody spoke. */
export interface Heard {
  /** Empty where the manifest does not say when its words were spoken. */
  readonly spoken: ReadonlyArray<SpokenWord>
  readonly quiets: ReadonlyArray<Quiet>
  readonly language: string
}

/** Silence that begins so soon behind a last word follows it: both times are a little wrong. */
const NEAR = 0.5

/** For each final when its last word ended and what came next began; null where the word was not heard right. */
const lastWords = (finals: ReadonlyArray<Final>, { spoken, quiets, language }: Heard) => {
  const { tokens, lastOf } = joined(finals.map(({ text }) => text), language)
  const { matches } = alignWords(spoken.map(({ word }) => word), tokens.map(({ word }) => word))
  const spokenAt = new Map(matches.map(([i, j]) => [j, i]))
  const sounding = spoken.map((word) => soundingPart(word, quiets))
  return finals.map((_, segment) => {
    const index = spokenAt.get(lastOf[segment] ?? -1)
    const word = index === undefined ? undefined : sounding[index]
    if (index === undefined || word === undefined) return null
    return { end: word.end, next: sounding[index + 1]?.start ?? Infinity }
  })
}

/** The same by what the finals themselves tell, for recordings whose words have no times. */
const toldEnds = (finals: ReadonlyArray<Final>, quiets: ReadonlyArray<Quiet>) =>
  finals.map(({ end: told }, segment) => {
    const end = quiets.find(({ start, end }) => start < told && told <= end)?.start ?? told
    const quiet = quiets.find((quiet) => quiet.start >= end && quiet.start - end < NEAR)
    return { end, next: segment === finals.length - 1 ? Infinity : (quiet?.end ?? end) }
  })

/**
 * The lag of each final behind its last word, where that was heard right. Pauses are those that the speech detector
 * finds in the recording, so that word times which stretch over silence hide none.
 */
export const finalLags = (
  finals: ReadonlyArray<Final>,
  heard: Heard,
  pauseSeconds: number,
): ReadonlyArray<FinalLag> => {
  const { spoken, quiets } = heard
  const pauses = quiets.filter(({ start, end }) => end - start >= pauseSeconds)
  const ends = spoken.length > 0 ? lastWords(finals, heard) : toldEnds(finals, quiets)
  return finals.flatMap(({ at }, segment) => {
    const last = ends[segment] ?? null
    if (last === null) return []
    const isPause = pauses.map(({ start, end }) => (start + end) / 2).some((at) => at > last.end && at < last.next)
    const end = isPause ? 'pause' : last.next === Infinity ? 'audio' : 'running'
    return [{ lag: at - last.end, end, at }]
  })
}
