/** Words before whose full stop no sentence ends: titles, and initials of names. */
const ABBREVIATED = /(?:^|\s)(?:\p{Lu}|Mrs?|Ms|Dr|Drs|Prof|St|Sr|Sra|Srta|Jr|Mme|Mlle|Hr|Nr|No|vs)\.\s*$/u

/**
 * The sentences of a text in `language` (ISO 639-1), trimmed, none of them empty: Unicode's sentence boundaries (UAX 29),
 * but for those after a title or an initial. Joined with spaces they are the whole text.
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
