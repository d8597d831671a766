import * as t from 'io-ts'
import { object } from '../shared/codecs.ts'
import { sealedJson } from '../shared/event.ts'

/** Models use only about this much text as context for the audio. */
export const MAX_PROMPT_CHARACTERS = 1000
export const MAX_HOTWORDS = 100
export const MAX_HOTWORD_CHARACTERS = 100

/** Words that speakers are likely to use. */
export const vocabularyMembers = {
  /** Text that the model treats as the speech before the audio. */
  prompt: t.string,
  /** Words and phrases that the model prefers over similar sounds. */
  hotwords: t.readonlyArray(t.string),
}

/** A member that the client did not send is absent. */
const vocabulary = object({}, vocabularyMembers)
export type GivenVocabulary = t.TypeOf<typeof vocabulary>

export const NO_VOCABULARY: GivenVocabulary = {}

/** The vocabulary is a personal member, because it can reveal the topics and names of a session. */
export const sealedVocabulary = sealedJson(vocabulary, NO_VOCABULARY)

export const isSameVocabulary = (a: GivenVocabulary, b: GivenVocabulary): boolean =>
  a.prompt === b.prompt &&
  a.hotwords?.length === b.hotwords?.length &&
  (a.hotwords ?? []).every((hotword, index) => hotword === b.hotwords?.[index])

/** Returns an object with the member `vocabulary`, or an empty object when the client sent no vocabulary. */
export const optionalVocabulary = (given: GivenVocabulary): { readonly vocabulary?: GivenVocabulary } =>
  isSameVocabulary(given, NO_VOCABULARY) ? {} : { vocabulary: given }
