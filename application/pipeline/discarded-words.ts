import { DISCARD_CAUSES, type DiscardCause, type DiscardedWords } from './policy/policy.ts'

/** Counts the discarded words of models by cause, since the start of the process. */
export interface DiscardCounter {
  readonly add: (discarded: DiscardedWords) => void
  readonly counts: () => Readonly<Record<DiscardCause, number>>
}

export const createDiscardCounter = (): DiscardCounter => {
  const counts = Object.fromEntries(DISCARD_CAUSES.map((cause) => [cause, 0])) as Record<DiscardCause, number>
  return {
    add: ({ cause, words }) => {
      counts[cause] += words
    },
    counts: () => counts,
  }
}
