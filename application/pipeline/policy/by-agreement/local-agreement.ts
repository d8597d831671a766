import type { Word } from '../words.ts'

/** Jitter of word times that still counts as behind the last committed word, in seconds. */
export const TIME_TOLERANCE = 0.1
/** A repeat of committed words is looked for only this near to their end. */
const REPEAT_DISTANCE = 1
const LONGEST_REPEAT = 5

/** LocalAgreement-2 over the passes of one audio buffer; all times absolute, in seconds. */
export interface Agreement {
  /** Committed words whose audio may still be in the buffer. */
  readonly committed: ReadonlyArray<Word>
  /** The last pass's words that no second pass has confirmed yet. */
  readonly pending: ReadonlyArray<Word>
  /** End of the last word ever committed. */
  readonly committedEnd: number
}

export const NO_AGREEMENT: Agreement = { committed: [], pending: [], committedEnd: 0 }

const repeatLength = (committed: ReadonlyArray<Word>, words: ReadonlyArray<Word>): number => {
  const longest = Math.min(committed.length, words.length, LONGEST_REPEAT)
  for (let length = 1; length <= longest; length += 1) {
    const tail = committed.slice(-length)
    if (tail.every((word, i) => word.text === words[i]?.text)) return length
  }
  return 0
}

/**
 * The words of a pass that were not committed before: those behind the committed end by their times, less a run that
 * only repeats the last committed words. Rules and constants are those of whisper_streaming (Macháček et al., 2023).
 *
 * @param repeats `keep` where the times come from an alignment with the committed words: a repeat was then spoken twice
 */
export const insert = (state: Agreement, words: ReadonlyArray<Word>, repeats: 'drop' | 'keep' = 'drop'): ReadonlyArray<Word> => {
  const fresh = words.filter((word) => word.start > state.committedEnd - TIME_TOLERANCE)
  const first = fresh[0]
  if (repeats === 'keep' || first === undefined || Math.abs(first.start - state.committedEnd) >= REPEAT_DISTANCE) return fresh
  return fresh.slice(repeatLength(state.committed, fresh))
}

const sameText = (a: Word, b: Word): boolean => a.text === b.text

/** Commits the longest common prefix of two passes, in the words of the newer one; the rest of that one is pending. */
export const commit = (
  state: Agreement,
  fresh: ReadonlyArray<Word>,
  same: (a: Word, b: Word) => boolean = sameText,
): { readonly state: Agreement; readonly committed: ReadonlyArray<Word> } => {
  const differs = fresh.findIndex((word, i) => {
    const before = state.pending[i]
    return before === undefined || !same(word, before)
  })
  return confirm({ ...state, pending: fresh }, differs === -1 ? fresh.length : differs)
}

/** Commits the first `count` pending words without a second opinion. */
export const confirm = (state: Agreement, count: number): { readonly state: Agreement; readonly committed: ReadonlyArray<Word> } => {
  const committed = state.pending.slice(0, count)
  return {
    committed,
    state: {
      committed: [...state.committed, ...committed],
      pending: state.pending.slice(count),
      committedEnd: committed.at(-1)?.end ?? state.committedEnd,
    },
  }
}

/** The audio buffer now begins at `time`: words that end at or before it leave the list that repeats are compared with. */
export const trim = (state: Agreement, time: number): Agreement => {
  const kept = state.committed.findIndex((word) => word.end > time)
  return { ...state, committed: kept === -1 ? [] : state.committed.slice(kept) }
}
