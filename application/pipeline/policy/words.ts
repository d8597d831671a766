/** A recognised word; `text` carries its leading space where its script writes one. Times in seconds. */
export interface Word {
  readonly start: number
  readonly end: number
  readonly text: string
  /** How sure the model was of it, 0 to 1; absent where it does not tell when its words sound. */
  readonly confidence?: number
}

/** The running text of words. */
export const textOf = (words: ReadonlyArray<Word>): string =>
  words
    .map((word) => word.text)
    .join('')
    .trim()

/** What two renderings of the same spoken word have in common: no case, no punctuation, no spaces. */
export const spokenForm = (text: string): string => {
  const letters = text.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '')
  return letters === '' ? text.trim() : letters
}
