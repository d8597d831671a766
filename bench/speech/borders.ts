import { errorsIn } from './score.ts'
import type { Compared } from './score.ts'
import { joined } from './screen.ts'

/** A difference to what was said where one segment ends and the next begins. */
export interface BorderFault {
  readonly kind: 'doubled' | 'inserted' | 'lost' | 'changed'
  /** The number of words that are doubled, inserted, lost or changed. */
  readonly words: number
  readonly spoken: string
  /** `|` where the border is. */
  readonly heard: string
}

/** Words shown around a fault. */
const CONTEXT = 3
/** The longest run of words that counts as said twice. */
const LONGEST_DOUBLE = 8

/** How many words before the border stand behind it again. */
const doubledAt = (words: ReadonlyArray<string>, border: number): number => {
  for (let n = LONGEST_DOUBLE; n > 0; n -= 1) {
    const [before, behind] = [words.slice(Math.max(0, border - n), border), words.slice(border, border + n)]
    if (before.length === n && before.every((word, i) => word === behind[i])) return n
  }
  return 0
}

/** The differences that touch a border of segments, each told once. */
export const borderFaults = (
  compared: Compared,
  segments: ReadonlyArray<string>,
  language: string,
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
    const kind = twice > 0 ? 'doubled' : inserted > 0 ? 'inserted' : deleted > 0 ? 'lost' : 'changed'
    const around = (at: number, end: number): string => heard.slice(Math.max(0, at), end).join(' ')
    return [
      {
        kind,
        words: Math.max(twice, inserted, deleted) || substituted,
        spoken: spoken.slice(Math.max(0, gap.spoken[0] - CONTEXT), gap.spoken[1] + CONTEXT).join(' '),
        heard: `${around(from - CONTEXT, border)} | ${around(border, to + CONTEXT)}`,
      },
    ]
  })
}
