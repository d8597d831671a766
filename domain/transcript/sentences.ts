/** Titles and initials whose full stop does not end a sentence. */
export const ABBREVIATED = /(?:^|\s)(?:\p{Lu}|Mrs?|Ms|Dr|Drs|Prof|St|Sr|Sra|Srta|Jr|Mme|Mlle|Hr|Nr|No|vs)\.\s*$/u

/**
 * Splits a text in `language` (ISO 639-1) into trimmed sentences at Unicode's sentence boundaries (UAX 29), but not
 * after a title or an initial. Empty sentences are dropped. The sentences, joined with spaces, form the whole text.
 */
export const sentencesOf = (text: string, language: string): ReadonlyArray<string> => {
  const plain = text.replaceAll(/\s+/gu, ' ').trim()
  const sentences: Array<string> = []
  let open = ''
  for (const { segment } of new Intl.Segmenter(language, { granularity: 'sentence' }).segment(plain)) {
    open += segment
    if (ABBREVIATED.test(open)) continue
    sentences.push(open.trim())
    open = ''
  }
  return [...sentences, open.trim()].filter((sentence) => sentence !== '')
}
