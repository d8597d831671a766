/** A recognised word; `text` carries its leading space where its script writes one. Times in seconds. */
export interface Word {
  readonly start: number
  readonly end: number
  readonly text: string
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
