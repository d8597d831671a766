import * as t from 'io-ts'
import { object } from '../shared/codecs.ts'
import { sealedJson } from '../shared/event.ts'

/** Characters of a prompt: about what a model reads of the text before the audio. */
export const LONGEST_PROMPT = 1000
export const MOST_HOTWORDS = 100
export const LONGEST_HOTWORD = 100

/** What speakers are likely to say, by whoever knows them. */
export const vocabularyMembers = {
  /** Text as if it had been said before. */
  prompt: t.string,
  /** Words and phrases that are heard rather than what sounds alike. */
  hotwords: t.readonlyArray(t.string),
}

/** What was not sent is not there. */
const vocabulary = object({}, vocabularyMembers)
export type GivenVocabulary = t.TypeOf<typeof vocabulary>

export const NO_VOCABULARY: GivenVocabulary = {}

/** As a personal member: whoever names what is said tells who speaks about what. */
export const sealedVocabulary = sealedJson(vocabulary, NO_VOCABULARY)

export const isSameVocabulary = (a: GivenVocabulary, b: GivenVocabulary): boolean =>
  a.prompt === b.prompt &&
  a.hotwords?.length === b.hotwords?.length &&
  (a.hotwords ?? []).every((hotword, index) => hotword === b.hotwords?.[index])

/** As a member that is there only where something was sent. */
export const ifGiven = (given: GivenVocabulary): { readonly vocabulary?: GivenVocabulary } =>
  isSameVocabulary(given, NO_VOCABULARY) ? {} : { vocabulary: given }
