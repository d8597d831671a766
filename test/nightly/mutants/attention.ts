import type { Mutant } from './mutant.ts'

const POLICY = 'application/pipeline/policy/by-attention/attention-policy.ts'
const TAKE_IN = 'application/pipeline/policy/by-attention/take-in.ts'
const LEAVING = 'application/pipeline/policy/by-attention/leaving.ts'
const BUFFER_START = 'application/pipeline/policy/by-attention/buffer-start.ts'
const STATE = 'application/pipeline/policy/by-attention/state.ts'
const RULES = 'test/unit/pipeline/attention-policy.test.ts'
const ACCOUNTS = 'test/unit/pipeline/attention-accounts.test.ts'
const PIPELINE = 'test/simulation/pipeline/attention-pipeline.test.ts'
const WORD_TIMES = 'test/nightly/speech/word-times.test.ts'

/** What is shown, fixed and made final of a model with word times, and when its words sound. */
export const attentionMutants: ReadonlyArray<Mutant> = [
  {
    file: TAKE_IN,
    before: 'sureness(words) < SURE_OF_BURST',
    after: 'sureness(words) < 0',
    rows: ['a burst of sound that the model is not sure of'], test: ACCOUNTS,
  },
  {
    file: TAKE_IN,
    before: 'words.length === 0 ? words : surerWords(openWords(state), words)',
    after: 'words',
    rows: ['the words stand that their own pass was surer of'], test: ACCOUNTS,
  },
  {
    file: TAKE_IN,
    before: 'isEnd ? last : null',
    after: 'null',
    rows: ['a phrase ends as its draft heard it'], test: ACCOUNTS,
  },
  {
    file: 'application/pipeline/policy/by-attention/words.ts',
    before: 'told > MOST_MISPLACED ? words.slice(told) : words',
    after: 'words',
    rows: ['what the model was told before and says again'], test: ACCOUNTS,
  },
  {
    file: BUFFER_START,
    before: 'lengthOf(unheard) < UNHEARD || !isToldBefore',
    after: 'lengthOf(unheard) < UNHEARD',
    rows: ['speech that a pass left without any word is heard anew'], test: ACCOUNTS,
  },
  {
    file: BUFFER_START,
    before: 'near.start - limits',
    after: 'next.start - limits',
    rows: ['the beginning of a first word, heard alone as nothing'], test: ACCOUNTS,
  },
  {
    file: TAKE_IN,
    before: 'const UNSURE = Math.round(0.4 * SAMPLE_RATE)',
    after: 'const UNSURE = 0',
    rows: ['those at the end of running speech stay open'], test: RULES,
  },
  {
    file: TAKE_IN,
    before: 'withoutEnd(last)] : fixed',
    after: 'last] : fixed',
    rows: ['a pause fixes all words, but not the punctuation behind the last'], test: RULES,
  },
  {
    file: 'application/pipeline/policy/by-attention/words.ts',
    before: 'if (known.length === finals && !isPunctuation) return',
    after: 'if (known.length === finals) return',
    rows: ['of a final word nothing changes'], test: RULES,
  },
  {
    file: STATE,
    before: 'joined(fixed, pending, finals).slice(finals)',
    after: '[...fixed.slice(finals), ...pending]',
    rows: ['of a final word nothing changes'], test: RULES,
  },
  {
    file: BUFFER_START,
    before: 'const isOpen = isDoubted(state) || ',
    after: 'const isOpen = ',
    rows: ['what a draft left doubted is heard again with what follows'], test: RULES,
  },
  {
    file: POLICY,
    before: 'isDraft || isSure(openFixed(state)) ? state.fixed',
    after: 'isDraft || true ? state.fixed',
    rows: ['what the drafts were not sure of is heard anew'], test: RULES,
  },
  {
    file: TAKE_IN,
    before: 'known === state.fixed || words.length === 0 ? words',
    after: 'known === state.fixed ? words',
    rows: ['empties the segment on the screen, and nothing is final'], test: RULES,
  },
  {
    file: TAKE_IN,
    before: "verdict !== 'loop' && limits.vad && openWords",
    after: "verdict === 'loop' && limits.vad && openWords",
    rows: ['speech whose scores are bad stays as text'], test: RULES,
  },
  {
    file: TAKE_IN,
    before: '{ ...state, draft: \'doubted\' }',
    after: 'state',
    rows: ['speech that no draft could use is heard once in a full window'], test: RULES,
  },
  {
    file: TAKE_IN,
    before: "hypothesis.isLoop === true ? 'loop' : judge(hypothesis, limits.vad)",
    after: 'judge(hypothesis, limits.vad)',
    rows: ['a loop is not shown'], test: RULES,
  },
  {
    file: TAKE_IN,
    before: 'pass.isSpeaking === true ? state : fixAll(state)',
    after: 'fixAll(state)',
    rows: ['half a word that a loop follows stays open'], test: RULES,
  },
  {
    file: BUFFER_START,
    before: 'const HOLD = 3 * SAMPLE_RATE',
    after: 'const HOLD = 90 * SAMPLE_RATE',
    rows: ['a pause shorter than three seconds keeps the buffer'], test: RULES,
  },
  {
    file: STATE,
    before: 'state.fixed.slice(0, count).flatMap(',
    after: 'state.fixed.slice(0, 0).flatMap(',
    rows: ['behind a longer one it begins anew, and its words are context'], test: RULES,
  },
  {
    file: LEAVING,
    before: '[sentence, clause, older.length - 1].find(',
    after: '[older.length - 1].find(',
    rows: ['a buffer that is too long is cut behind a sentence'], test: RULES,
  },
  {
    file: LEAVING,
    before: 'i === 0 || end - state.bufferStart <= limits.buffer.longestHeard',
    after: 'i === 0',
    rows: ['several phrases that are over are heard in one pass'], test: RULES,
  },
  {
    file: POLICY,
    before: 'if (isCrowded(state, wanted, limits)) return',
    after: 'if (state.heardEnd < 0) return',
    rows: ['half a minute of backlog is heard in four passes at most'], test: PIPELINE,
  },
  {
    file: POLICY,
    before: 'each.end !== null && each.end > state.heardEnd',
    after: 'each.end === end && each.end > state.heardEnd',
    rows: ['a draft waits for the interval of new audio'], test: RULES,
  },
  {
    file: POLICY,
    before: 'pass.isDraft !== true || textOf(openWords(heard)) === before',
    after: 'textOf(openWords(heard)) === before',
    rows: ['without a detector an unchanged phrase is final'], test: PIPELINE,
  },
  {
    file: LEAVING,
    before: 'state.heardEnd - sampleAt(first.start) > limits.longestSegment',
    after: 'state.heardEnd < 0',
    rows: ['max_buffer ends segments in running speech'], test: PIPELINE,
  },
  {
    file: LEAVING,
    before: 'clock + limits.interval / 2 >= sampleAt(oldest.end) + limits.maxDelay',
    after: 'clock < 0',
    rows: ['in mode final every word is final within max_delay'], test: PIPELINE,
  },
  {
    file: LEAVING,
    before: 'wordsInFullCaptions(shownWords(state), limits.shape)',
    after: 'wordsInFullCaptions([], limits.shape)',
    rows: ['captions that nothing more fits into are final at once'], test: PIPELINE,
  },
  {
    file: TAKE_IN,
    before: 'probability < DOUBTED ? UNSURE_DOUBTED : UNSURE',
    after: 'probability < 0 ? UNSURE_DOUBTED : UNSURE',
    rows: ['a doubted word waits for what follows'], test: RULES,
  },
  {
    file: STATE,
    before: 'probability < UNLIKELY ||',
    after: 'probability < 0 ||',
    rows: ['an unlikely one is not shown meanwhile'], test: RULES,
  },
  {
    file: TAKE_IN,
    before: 'knownTo(state, pass) === state.fixed || isWhole(state, words)',
    after: 'words.length >= 0',
    rows: ['a full window that heard much less than the drafts ended too early'], test: RULES,
  },
  {
    file: TAKE_IN,
    before: 'last.endProbability >= SURE_END ?',
    after: 'last.endProbability >= 0 ?',
    rows: ['a pause ends a sentence only where the model is sure of it'], test: RULES,
  },
  {
    file: 'infrastructure/onnx/words/attention-times.ts',
    before: 'if (step !== NEXT_FRAME) token -= 1',
    after: 'if (step !== NEXT_TOKEN) token -= 1',
    rows: ['a token begins in the frame where the heads begin to look'], test: WORD_TIMES,
  },
  {
    file: 'infrastructure/onnx/words/token-words.ts',
    before: 'spoken: isPunctuation ? last.spoken : all.length',
    after: 'spoken: all.length',
    rows: ['a word begins with a space and takes the punctuation behind it along'], test: WORD_TIMES,
  },
  {
    file: 'infrastructure/onnx/words/token-words.ts',
    before: 'if (text.endsWith(INCOMPLETE) && i < tokens.length - 1) continue',
    after: '',
    rows: ['bytes that tokens share stay together'], test: WORD_TIMES,
  },
  {
    file: 'infrastructure/onnx/words/loops.ts',
    before: 'const LOOPS = [8, 5, 4, 3]',
    after: 'const LOOPS = [8, 5, 3, 3]',
    rows: ['the same again and again is a loop'], test: WORD_TIMES,
  },
]
