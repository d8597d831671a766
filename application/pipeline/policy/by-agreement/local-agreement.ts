import type { Word } from '../words.ts'

/** A word may start this much before the end of the committed words and still count as new. */
export const TIME_TOLERANCE_SECONDS = 0.1
/** A repetition of committed words is searched only if the new words start this close to the committed end. */
const REPEAT_DISTANCE_SECONDS = 1
/** Maximum length of such a repetition. */
const MAX_REPEAT_WORDS = 5

/**
 * State of LocalAgreement-2 for one audio buffer. Its rule: a word is committed once two successive passes agree on it.
 * Times are in seconds from the first audio.
 */
export interface Agreement {
  /** Committed words whose audio may still be in the buffer. */
  readonly committed: ReadonlyArray<Word>
  /** Words of the last pass that no second pass has confirmed yet. */
  readonly pending: ReadonlyArray<Word>
  /** End of the last committed word. */
  readonly committedEnd: number
}

export const NO_AGREEMENT: Agreement = { committed: [], pending: [], committedEnd: 0 }

const repeatLength = (committed: ReadonlyArray<Word>, words: ReadonlyArray<Word>): number => {
  const longest = Math.min(committed.length, words.length, MAX_REPEAT_WORDS)
  for (let length = 1; length <= longest; length += 1) {
    const tail = committed.slice(-length)
    if (tail.every((word, i) => word.text === words[i]?.text)) return length
  }
  return 0
}

/**
 * Returns the new words of a pass: the words after the committed end, without a repetition of the last committed words.
 * Rules and constants follow whisper_streaming (Macháček et al., 2023).
 *
 * @param repeats `keep`: the words were aligned with the committed words, so a repetition after them was really spoken
 */
export const newWordsOf = (
  state: Agreement,
  words: ReadonlyArray<Word>,
  repeats: 'drop' | 'keep' = 'drop',
): ReadonlyArray<Word> => {
  const fresh = words.filter((word) => word.start > state.committedEnd - TIME_TOLERANCE_SECONDS)
  const first = fresh[0]
  if (repeats === 'keep' || first === undefined) return fresh
  if (Math.abs(first.start - state.committedEnd) >= REPEAT_DISTANCE_SECONDS) return fresh
  return fresh.slice(repeatLength(state.committed, fresh))
}

const sameText = (a: Word, b: Word): boolean => a.text === b.text

/** Commits the words at the start on which two passes agree. The other words of the newer pass stay pending. */
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

/** Commits the first `count` pending words without a second pass. */
export const confirm = (
  state: Agreement,
  count: number,
): { readonly state: Agreement; readonly committed: ReadonlyArray<Word> } => {
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

/** Removes the committed words that end at or before `time`, where the audio buffer begins. */
export const trim = (state: Agreement, time: number): Agreement => {
  const kept = state.committed.findIndex((word) => word.end > time)
  return { ...state, committed: kept === -1 ? [] : state.committed.slice(kept) }
}
