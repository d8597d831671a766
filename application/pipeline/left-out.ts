import { LEFT_OUT_CAUSES } from './policy/policy.ts'
import type { LeftOut, LeftOutCause } from './policy/policy.ts'

/** How many words of models are in no text, by why, since the start of the process. */
export interface LeftOutWords {
  readonly add: (leftOut: LeftOut) => void
  readonly counts: () => Readonly<Record<LeftOutCause, number>>
}

export const createLeftOutWords = (): LeftOutWords => {
  const counts = Object.fromEntries(LEFT_OUT_CAUSES.map((cause) => [cause, 0])) as Record<LeftOutCause, number>
  return {
    add: ({ cause, words }) => {
      counts[cause] += words
    },
    counts: () => counts,
  }
}
