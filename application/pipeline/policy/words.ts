/** A recognised word. Times are in seconds. `text` includes the leading space in scripts with spaces. */
export interface Word {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Confidence of the model, 0 to 1. Absent for models without word times. */
  readonly confidence?: number
}

export const textOf = (words: ReadonlyArray<Word>): string =>
  words
    .map((word) => word.text)
    .join('')
    .trim()

/** Normalises a word for comparison: without case, punctuation and spaces. */
export const spokenForm = (text: string): string => {
  const letters = text.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '')
  return letters === '' ? text.trim() : letters
}
