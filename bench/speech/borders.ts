import { errorsIn, type Compared, type Gap } from './score.ts'
import { joined } from './screen.ts'

/** A wrong text at the border between two segments. */
export interface BorderFault {
  readonly kind: 'doubled' | 'inserted' | 'lost' | 'changed'
  /** The number of words that are doubled, inserted, lost or changed. */
  readonly words: number
  readonly spoken: string
  /** The transcribed words. `|` marks the border. */
  readonly heard: string
  readonly cause: Cause
}

/**
 * `spelling`: the letters are equal, but the spaces differ. The other causes compare with the offline text of the same
 * model. `offline`: the offline text has the same wrong words. `differently`: it has other wrong words. `live`: it is
 * right. `unknown`: no offline text exists.
 */
export type Cause = 'spelling' | 'offline' | 'differently' | 'live' | 'unknown'

/** Number of words that are shown before and after a fault. */
const CONTEXT = 3
/** The longest run of words at a border that counts as doubled. */
const MAX_DOUBLED_WORDS = 8
/** Inserted words count as a repetition if this many in a row also appear at most REPETITION_DISTANCE words away. */
const MIN_REPEATED_WORDS = 4
const REPETITION_DISTANCE = 60

/** Returns the number of words before the border that appear again after it. */
const doubledAt = (words: ReadonlyArray<string>, border: number): number => {
  for (let n = MAX_DOUBLED_WORDS; n > 0; n -= 1) {
    const [before, after] = [words.slice(Math.max(0, border - n), border), words.slice(border, border + n)]
    if (before.length === n && before.every((word, i) => word === after[i])) return n
  }
  return 0
}

const wordsAt = (words: Compared['hypothesis'], [from, to]: Gap['heard']): string =>
  words.slice(from, to).map(({ word }) => word).join(' ')

/** Returns whether two ranges share a word, or an empty range touches the other range. */
const overlaps = ([from, to]: Gap['spoken'], [otherFrom, otherTo]: Gap['spoken']): boolean => {
  const [begin, end] = [Math.max(from, otherFrom), Math.min(to, otherTo)]
  return begin < end || (begin === end && (from === to || otherFrom === otherTo))
}

const causeOf = (gap: Gap, live: Compared, offline: Compared | null): Cause => {
  const [spoken, heard] = [wordsAt(live.reference, gap.spoken), wordsAt(live.hypothesis, gap.heard)]
  if (spoken.replaceAll(' ', '') === heard.replaceAll(' ', '')) return 'spelling'
  if (offline === null) return 'unknown'
  const there = offline.gaps.filter((other) => overlaps(gap.spoken, other.spoken))
  if (there.length === 0) return 'live'
  const { reference, hypothesis } = offline
  const isSame = there.some(
    (other) => wordsAt(reference, other.spoken) === spoken && wordsAt(hypothesis, other.heard) === heard,
  )
  return isSame ? 'offline' : 'differently'
}

/** Returns whether a part of the words [from, to) also appears shortly before or after them. */
const isRepeated = (words: ReadonlyArray<string>, [from, to]: Gap['heard']): boolean => {
  const around = [words.slice(Math.max(0, from - REPETITION_DISTANCE), from), words.slice(to, to + REPETITION_DISTANCE)]
  const there = around.map((side) => ` ${side.join(' ')} `)
  return words
    .slice(from, to - MIN_REPEATED_WORDS + 1)
    .some((_, i) => {
      const run = ` ${words.slice(from + i, from + i + MIN_REPEATED_WORDS).join(' ')} `
      return there.some((side) => side.includes(run))
    })
}

/** Returns the differences that touch a border of segments. `offline` is the offline text of the same model. */
export const borderFaults = (
  compared: Compared,
  segments: ReadonlyArray<string>,
  language: string,
  offline: Compared | null,
): ReadonlyArray<BorderFault> => {
  const borders = joined(segments, language).lastOf.slice(0, -1).map((last) => last + 1)
  const heard = compared.hypothesis.map(({ word }) => word)
  const spoken = compared.reference.map(({ word }) => word)
  return compared.gaps.flatMap((gap): ReadonlyArray<BorderFault> => {
    const [from, to] = gap.heard
    const border = borders.find((at) => from <= at && at <= to)
    if (border === undefined) return []
    const { substituted, inserted, deleted } = errorsIn(gap)
    const twice = inserted > 0 ? doubledAt(heard, border) : 0
    const isDoubled = twice > 0 || (inserted >= MIN_REPEATED_WORDS && isRepeated(heard, gap.heard))
    const kind = isDoubled ? 'doubled' : inserted > 0 ? 'inserted' : deleted > 0 ? 'lost' : 'changed'
    const around = (at: number, end: number): string => heard.slice(Math.max(0, at), end).join(' ')
    return [
      {
        kind,
        words: Math.max(twice, inserted, deleted) || substituted,
        spoken: spoken.slice(Math.max(0, gap.spoken[0] - CONTEXT), gap.spoken[1] + CONTEXT).join(' '),
        heard: `${around(from - CONTEXT, border)} | ${around(border, to + CONTEXT)}`,
        cause: causeOf(gap, compared, offline),
      },
    ]
  })
}

/** Number of words of each kind. */
export type BorderWords = Readonly<Record<BorderFault['kind'], number>>

const wordsOf = (faults: ReadonlyArray<BorderFault>, isWanted: (fault: BorderFault) => boolean): number =>
  faults.filter(isWanted).reduce((sum, { words }) => sum + words, 0)

export const wordsByKind = (faults: ReadonlyArray<BorderFault>): BorderWords => {
  const words = (wanted: BorderFault['kind']): number => wordsOf(faults, ({ kind }) => kind === wanted)
  return { doubled: words('doubled'), inserted: words('inserted'), lost: words('lost'), changed: words('changed') }
}

export const wordsByCause = (faults: ReadonlyArray<BorderFault>): Readonly<Record<Cause, number>> => {
  const words = (wanted: Cause): number => wordsOf(faults, ({ cause }) => cause === wanted)
  const known = { spelling: words('spelling'), offline: words('offline'), differently: words('differently') }
  return { ...known, live: words('live'), unknown: words('unknown') }
}
