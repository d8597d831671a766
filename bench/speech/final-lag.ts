import { alignWords } from '../../domain/transcript/word-alignment.ts'
import type { Frame } from './live.ts'
import { soundingPart, type Quiet } from './quiet.ts'
import { joined, type SpokenWord } from './screen.ts'

/**
 * The cause that ended a segment: a pause of at least `buffer_timeout` after its last word, the end of the audio, or
 * the length of running speech without such a pause.
 */
export type SegmentEnd = 'pause' | 'running' | 'audio'

export interface FinalLag {
  /** Seconds from the end of a segment's last word to its final. */
  readonly lag: number
  readonly end: SegmentEnd
  /** Time of the final, in seconds of audio. */
  readonly at: number
}

type Final = Pick<Frame, 'at' | 'end' | 'text'>

/** The times of speech in a recording. */
export interface SpeechTimes {
  /** Empty when the manifest has no word times. */
  readonly spoken: ReadonlyArray<SpokenWord>
  readonly quiets: ReadonlyArray<Quiet>
  readonly language: string
}

/** A silence that begins within this time after a last word counts as its pause, because both times are inexact. */
const TOLERANCE_SECONDS = 0.5

/** Returns for each final the end of its last word and the start of the next word. Null when the last word is wrong. */
const lastWords = (finals: ReadonlyArray<Final>, { spoken, quiets, language }: SpeechTimes) => {
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

/** Returns the same times for recordings without word times. It takes them from the finals and the silences. */
const endsFromFinals = (finals: ReadonlyArray<Final>, quiets: ReadonlyArray<Quiet>) =>
  finals.map(({ end: finalEnd }, segment) => {
    const end = quiets.find((quiet) => quiet.start < finalEnd && finalEnd <= quiet.end)?.start ?? finalEnd
    const pause = quiets.find(({ start }) => start >= end && start - end < TOLERANCE_SECONDS)
    return { end, next: segment === finals.length - 1 ? Infinity : (pause?.end ?? end) }
  })

/**
 * Returns the lag of each final after its last word, if that word is right. Takes the pauses from `quiets`, which the
 * speech detector found, because a word with an inexact time may span a pause.
 */
export const finalLags = (
  finals: ReadonlyArray<Final>,
  times: SpeechTimes,
  pauseSeconds: number,
): ReadonlyArray<FinalLag> => {
  const { spoken, quiets } = times
  const pauses = quiets.filter(({ start, end }) => end - start >= pauseSeconds)
  const ends = spoken.length > 0 ? lastWords(finals, times) : endsFromFinals(finals, quiets)
  const middles = pauses.map(({ start, end }) => (start + end) / 2)
  return finals.flatMap(({ at }, segment) => {
    const last = ends[segment] ?? null
    if (last === null) return []
    const isPause = middles.some((middle) => middle > last.end && middle < last.next)
    const end = isPause ? 'pause' : last.next === Infinity ? 'audio' : 'running'
    return [{ lag: at - last.end, end, at }]
  })
}
