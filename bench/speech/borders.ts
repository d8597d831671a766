import { errorsIn } from './score.ts'
import type { Compared, Gap } from './score.ts'
import { joined } from './screen.ts'

/** A difference to what was said where one segment ends and the next begins. */
export interface BorderFault {
  readonly kind: 'doubled' | 'inserted' | 'lost' | 'changed'
  /** The number of words that are doubled, inserted, lost or changed. */
  readonly words: number
  readonly spoken: string
  /** `|` where the border is. */
  readonly heard: string
  readonly cause: Cause
}

/**
 * `spelling`: the same letters, apart otherwise; of the same model's text of the whole recording, `offline`: it has the
 * same words there; `differently`: other wrong ones; `live`: the right ones; `unknown`: it was not made.
 */
export type Cause = 'spelling' | 'offline' | 'differently' | 'live' | 'unknown'

/** Words shown around a fault. */
const CONTEXT = 3
/** The longest run of words beside a border that counts as said twice. */
const LONGEST_DOUBLE = 8
/** Of what was heard too much, so many words in a row that also stand so near are a repetition, not chance. */
const REPEATED = 4
const REPEATED_WITHIN = 60

/** How many words before the border stand behind it again. */
const doubledAt = (words: ReadonlyArray<string>, border: number): number => {
  for (let n = LONGEST_DOUBLE; n > 0; n -= 1) {
    const [before, behind] = [words.slice(Math.max(0, border - n), border), words.slice(border, border + n)]
    if (before.length === n && before.every((word, i) => word === behind[i])) return n
  }
  return 0
}

const wordsAt = (words: Compared['hypothesis'], [from, to]: Gap['heard']): string =>
  words.slice(from, to).map(({ word }) => word).join(' ')

/** Two gaps have a word in common, or one without words lies at the other. */
const meet = ([from, to]: Gap['spoken'], [otherFrom, otherTo]: Gap['spoken']): boolean => {
  const [begin, end] = [Math.max(from, otherFrom), Math.min(to, otherTo)]
  return begin < end || (begin === end && (from === to || otherFrom === otherTo))
}

const causeOf = (gap: Gap, live: Compared, offline: Compared | null): Cause => {
  const [spoken, heard] = [wordsAt(live.reference, gap.spoken), wordsAt(live.hypothesis, gap.heard)]
  if (spoken.replaceAll(' ', '') === heard.replaceAll(' ', '')) return 'spelling'
  if (offline === null) return 'unknown'
  const there = offline.gaps.filter((other) => meet(gap.spoken, other.spoken))
  if (there.length === 0) return 'live'
  const { reference, hypothesis } = offline
  const isSame = there.some(
    (other) => wordsAt(reference, other.spoken) === spoken && wordsAt(hypothesis, other.heard) === heard,
  )
  return isSame ? 'offline' : 'differently'
}

/** Whether a part of the words [from, to) stands before or behind them again. */
const isRepeated = (words: ReadonlyArray<string>, [from, to]: Gap['heard']): boolean => {
  const around = [words.slice(Math.max(0, from - REPEATED_WITHIN), from), words.slice(to, to + REPEATED_WITHIN)]
  const there = around.map((side) => ` ${side.join(' ')} `)
  return words
    .slice(from, to - REPEATED + 1)
    .some((_, i) => there.some((side) => side.includes(` ${words.slice(from + i, from + i + REPEATED).join(' ')} `)))
}

/** The differences that touch a border of segments, each told once; `offline` is the text of the same model offline. */
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
    const isDoubled = twice > 0 || (inserted >= REPEATED && isRepeated(heard, gap.heard))
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

/** How many words of each kind. */
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
