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

/** What a session may ask of its words: their times, the language they are in, and which are likely. */
export const vocabularyAndLanguageMutants: ReadonlyArray<Mutant> = [
  {
    file: SEGMENTS,
    before: 'const upTo = Math.min(word.to, to)',
    after: 'const upTo = word.to',
    rows: ['a word that captions break is told in each of them'], test: WORDS_TEST,
  },
  {
    file: SEGMENTS,
    before: 'Math.min(span.end, Math.max(least, rounded(seconds)))',
    after: 'rounded(seconds)',
    rows: ['the words of any final are its text, go forward and lie within it'], test: WORDS_TEST,
  },
  {
    file: SEGMENTS,
    before: 'placed.every(isJudged) ? {',
    after: 'placed.filter(isJudged).length > 0 ? {',
    rows: ['of words whose times are estimates nothing is told'], test: WORDS_TEST,
  },
  {
    file: 'application/pipeline/policy/by-attention/words.ts',
    before: 'isPunctuation ? last.confidence : confidenceOfBoth(last, first)',
    after: 'Math.min(last.confidence, first.confidence)',
    rows: ['the mean over its tokens'], test: WORDS_TEST,
  },
  {
    file: SPOKEN,
    before: 'if (!isLikely && (wasEverSure ||',
    after: 'if (!isLikely && (false ||',
    rows: ['who was sure once is only changed by one that is sure'], test: SPOKEN_TEST,
  },
  {
    file: SPOKEN,
    before: 'Math.max(wasEverSure ? ENOUGH : LEAST, 2 * asked)',
    after: '(wasEverSure ? ENOUGH : LEAST)',
    rows: ['and again when twice as much was'], test: SPOKEN_TEST,
  },
  {
    file: SPOKEN,
    before: 'isSettled = isLikely && isEnough',
    after: 'isSettled = isLikely',
    rows: ['until the model is sure'], test: SPOKEN_TEST,
  },
  {
    file: SPOKEN,
    before: 'if (code === null && closedAt !== null) return true',
    after: '',
    rows: ['the first phrase is asked about when it ends'], test: SPOKEN_TEST,
  },
  {
    file: 'application/pipeline/live-pipeline.ts',
    before: 'policy.restart(from - limits.buffer.preRoll)',
    after: 'void 0',
    rows: ['what was taken for another language at first is heard anew'], test: SPOKEN_TEST,
  },
  {
    file: 'application/pipeline/policy/by-attention/state.ts',
    before: '...initialState(segment), shown,',
    after: '...initialState(segment), context: state.fixed.flatMap(({ tokens }) => tokens), shown,',
    rows: ['each phrase is heard and told in its language'], test: SPOKEN_TEST,
  },
  {
    file: 'application/pipeline/live-pipeline.ts',
    before: 'expected = next',
    after: 'void next',
    rows: ['another from the next pass on'], test: VOCABULARY_TEST,
  },
  {
    file: HOTWORDS,
    before: 'if (likeliest.token >= endOfText) return likeliest',
    after: '',
    rows: ['no hotword takes the place of the end of the text'], test: HOTWORDS_TEST,
  },
  {
    file: HOTWORDS,
    before: 'isBorder(text, from) ? [free, bound] : [free]',
    after: '[free, bound]',
    rows: ['a spelling without a space begins only where no word goes on'], test: HOTWORDS_TEST,
  },
  {
    file: HOTWORDS,
    before: 'raised(unaided, bonuses.get(best) ?? 0), withoutBonus: unaided }',
    after: 'unaided, withoutBonus: unaided }',
    rows: ['a hotword that is taken is likelier by its bonus'], test: HOTWORDS_TEST,
  },
  {
    file: VOCABULARY,
    before: '.filter((token: number) => token < endOfText)',
    after: '',
    rows: ['what looks like a token of the model is text or nothing'], test: HOTWORDS_TEST,
  },
  {
    file: VOCABULARY,
    before: '.slice(-MAX_PROMPT_TOKENS)',
    after: '',
    rows: ['as much of it as is read'], test: HOTWORDS_TEST,
  },
  {
    file: RUNNER,
    before: 'window.noSpeechProb > ECHOING',
    after: 'window.noSpeechProb > 2',
    rows: ['a vocabulary makes no words of silence'], test: RECORDINGS_TEST,
  },
  {
    file: RUNNER,
    before: 'lastOf(context, room - first.length)',
    after: 'lastOf(context, room)',
    rows: ['a prompt stays before the audio'], test: RECORDINGS_TEST,
  },
]
