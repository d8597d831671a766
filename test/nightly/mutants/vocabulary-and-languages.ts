import type { Mutant } from './mutant.ts'

const SEGMENTS = 'application/pipeline/policy/segments.ts'
const SPOKEN = 'application/pipeline/speech/spoken-language.ts'
const HOTWORDS = 'infrastructure/onnx/words/hotwords.ts'
const VOCABULARY = 'infrastructure/onnx/words/vocabulary.ts'
const WORDS_TEST = 'test/unit/pipeline/segment-words.test.ts'
const SPOKEN_TEST = 'test/unit/pipeline/spoken-language.test.ts'
const HOTWORDS_TEST = 'test/unit/engine/hotwords.test.ts'
const RUNNER = 'infrastructure/onnx/whisper/whisper-runner.ts'
const RECORDINGS_TEST = 'test/nightly/speech/languages-and-vocabulary.test.ts'
const VOCABULARY_TEST = 'test/unit/pipeline/vocabulary.test.ts'

/** Word times, languages and vocabulary of a session. */
export const vocabularyAndLanguageMutants: ReadonlyArray<Mutant> = [
  {
    file: SEGMENTS,
    before: 'const upTo = Math.min(word.to, to)',
    after: 'const upTo = word.to',
    rows: ['a word that is split over captions is listed in each of them, with the time of its part'], test: WORDS_TEST,
  },
  {
    file: SEGMENTS,
    before: 'Math.min(span.end, Math.max(least, rounded(seconds)))',
    after: 'rounded(seconds)',
    rows: ['the words of a final form its text, advance in time and lie within the final'], test: WORDS_TEST,
  },
  {
    file: SEGMENTS,
    before: 'placed.every(hasConfidence) ? {',
    after: 'placed.filter(hasConfidence).length > 0 ? {',
    rows: ['words with estimated times are not listed'], test: WORDS_TEST,
  },
  {
    file: 'application/pipeline/policy/by-attention/words.ts',
    before: 'isPunctuation ? last.confidence : confidenceOfBoth(last, first)',
    after: 'Math.min(last.confidence, first.confidence)',
    rows: ['the certainty of a word is the mean over its tokens without punctuation'], test: WORDS_TEST,
  },
  {
    file: SPOKEN,
    before: 'if (!isLikely && (wasEverSure ||',
    after: 'if (!isLikely && (false ||',
    rows: ['a sure language changes only by a sure result over two seconds'], test: SPOKEN_TEST,
  },
  {
    file: SPOKEN,
    before: 'Math.max(wasEverSure ? RELIABLE_SAMPLES : MIN_SAMPLES, 2 * queriedSamples)',
    after: '(wasEverSure ? RELIABLE_SAMPLES : MIN_SAMPLES)',
    rows: ['the language is detected after 1, 2, 4 … s of speech, until the model is sure'],
    test: SPOKEN_TEST,
  },
  {
    file: SPOKEN,
    before: 'isSettled = isLikely && isEnough',
    after: 'isSettled = isLikely',
    rows: ['a sure result for the first second of speech is used'], test: SPOKEN_TEST,
  },
  {
    file: SPOKEN,
    before: 'if (code === null && closedAt !== null) return true',
    after: '',
    rows: ['the language of a short first phrase is detected'], test: SPOKEN_TEST,
  },
  {
    file: 'application/pipeline/live-pipeline.ts',
    before: 'policy.restart(from - limits.buffer.preRoll)',
    after: 'void 0',
    rows: ['a phrase with a wrongly detected language is transcribed again: word times'], test: SPOKEN_TEST,
  },
  {
    file: 'application/pipeline/policy/by-attention/state.ts',
    before: '...initialState(segment), shown,',
    after: '...initialState(segment), context: state.fixed.flatMap(({ tokens }) => tokens), shown,',
    rows: ['each phrase is transcribed and labelled in its own language: word times'], test: SPOKEN_TEST,
  },
  {
    file: 'application/pipeline/live-pipeline.ts',
    before: 'hints = next',
    after: 'void next',
    rows: ['every pass gets the vocabulary; a changed vocabulary applies from the next pass'], test: VOCABULARY_TEST,
  },
  {
    file: HOTWORDS,
    before: 'if (likeliest.token >= endOfText) return likeliest',
    after: '',
    rows: ['no hotword replaces the end of the text'], test: HOTWORDS_TEST,
  },
  {
    file: HOTWORDS,
    before: 'isBorder(text, from) ? [free, bound] : [free]',
    after: '[free, bound]',
    rows: ['a spelling without a space begins only after the end of a word'], test: HOTWORDS_TEST,
  },
  {
    file: HOTWORDS,
    before: 'raised(unaided, bonuses.get(best) ?? 0), withoutBonus: unaided }',
    after: 'unaided, withoutBonus: unaided }',
    rows: ['a chosen hotword has a bonus on its probability'], test: HOTWORDS_TEST,
  },
  {
    file: VOCABULARY,
    before: '.filter((token: number) => token < endOfText)',
    after: '',
    rows: ['special tokens in it do not count'], test: HOTWORDS_TEST,
  },
  {
    file: VOCABULARY,
    before: '.slice(-MAX_PROMPT_TOKENS)',
    after: '',
    rows: ['a prompt is cut to its limit'], test: HOTWORDS_TEST,
  },
  {
    file: RUNNER,
    before: 'window.noSpeechProb > ECHOING',
    after: 'window.noSpeechProb > 2',
    rows: ['a vocabulary produces no words for silence'], test: RECORDINGS_TEST,
  },
  {
    file: RUNNER,
    before: 'lastOf(context, room - first.length)',
    after: 'lastOf(context, room)',
    rows: ['a prompt is kept however long the context is'], test: RECORDINGS_TEST,
  },
]
