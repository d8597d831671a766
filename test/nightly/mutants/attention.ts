import type { Mutant } from './mutant.ts'

const POLICY = 'application/pipeline/policy/by-attention/attention-policy.ts'
const APPLY_PASS = 'application/pipeline/policy/by-attention/apply-pass.ts'
const FINALISATION = 'application/pipeline/policy/by-attention/finalisation.ts'
const BUFFER_START = 'application/pipeline/policy/by-attention/buffer-start.ts'
const STATE = 'application/pipeline/policy/by-attention/state.ts'
const ATTENTION_POLICY = 'test/unit/pipeline/attention-policy.test.ts'
const DOUBT = 'test/unit/pipeline/attention-doubt.test.ts'
const FINAL_WORDS = 'test/unit/pipeline/attention-final-words.test.ts'
const PIPELINE = 'test/simulation/pipeline/attention-pipeline.test.ts'
const WORD_TIMES = 'test/nightly/speech/word-times.test.ts'

/** Text of models with word times: drafts, final segments and times of words. */
export const attentionMutants: ReadonlyArray<Mutant> = [
  {
    file: APPLY_PASS,
    before: 'meanConfidence(words) < MIN_BURST_CONFIDENCE',
    after: 'meanConfidence(words) < 0',
    rows: ['an unsure short burst of sound gives no words, and the dropped words are counted'], test: FINAL_WORDS,
  },
  {
    file: APPLY_PASS,
    before: 'words.length === 0 ? words : combineTranscriptions(openWords(state), words)',
    after: 'words',
    rows: ['when a full pass differs from the drafts, the surer words win'], test: FINAL_WORDS,
  },
  {
    file: APPLY_PASS,
    before: 'isEnd ? last : null',
    after: 'null',
    rows: ['a phrase whose draft was sure of the end becomes final without a full pass'], test: FINAL_WORDS,
  },
  {
    file: 'application/pipeline/policy/by-attention/words.ts',
    before: 'repeated > MAX_MISPLACED_WORDS ? words.slice(repeated) : words',
    after: 'words',
    rows: ['words that repeat the prompt are dropped if they have no duration or are known'], test: FINAL_WORDS,
  },
  {
    file: BUFFER_START,
    before: 'lengthOf(missed) < MISSED_SPEECH_SAMPLES || !hadContext',
    after: 'lengthOf(missed) < MISSED_SPEECH_SAMPLES',
    rows: ['speech without any word is transcribed again without the previous text'], test: FINAL_WORDS,
  },
  {
    file: BUFFER_START,
    before: 'near.start - limits',
    after: 'next.start - limits',
    rows: ['if the beginning of a first word gave no text, it is transcribed again with the rest'], test: FINAL_WORDS,
  },
  {
    file: APPLY_PASS,
    before: 'const UNSURE_END_SAMPLES = Math.round(0.4 * SAMPLE_RATE)',
    after: 'const UNSURE_END_SAMPLES = 0',
    rows: ['a draft continues from the fixed words; words at the end of running speech stay open'],
    test: ATTENTION_POLICY,
  },
  {
    file: APPLY_PASS,
    before: 'withoutEnd(last)] : fixed',
    after: 'last] : fixed',
    rows: ['a pause fixes all words, but not the punctuation after the last word'], test: ATTENTION_POLICY,
  },
  {
    file: 'application/pipeline/policy/by-attention/words.ts',
    before: 'if (known.length === finals && !isPunctuation) return',
    after: 'if (known.length === finals) return',
    rows: ['a final word never changes; a later ending of this word is not shown'], test: ATTENTION_POLICY,
  },
  {
    file: STATE,
    before: 'appendWords(fixed, pending, finals).slice(finals)',
    after: '[...fixed.slice(finals), ...pending]',
    rows: ['a final word never changes; a later ending of this word is not shown'], test: ATTENTION_POLICY,
  },
  {
    file: BUFFER_START,
    before: 'const isOpen = isDoubted(state) || ',
    after: 'const isOpen = ',
    rows: ['doubted words of a draft are transcribed again with the following audio, also after a pause'],
    test: ATTENTION_POLICY,
  },
  {
    file: POLICY,
    before: 'isDraft || isSure(openFixed(state)) ? state.fixed',
    after: 'isDraft || true ? state.fixed',
    rows: ['unsure words of drafts are transcribed again after the finals before they become final'],
    test: ATTENTION_POLICY,
  },
  {
    file: APPLY_PASS,
    before: 'known === state.fixed || words.length === 0 ? words',
    after: 'known === state.fixed ? words',
    rows: ['a full pass that finds silence clears the segment on the screen, and nothing becomes final'],
    test: ATTENTION_POLICY,
  },
  {
    file: APPLY_PASS,
    before: "verdict !== 'loop' && limits.vad && openWords",
    after: "verdict === 'loop' && limits.vad && openWords",
    rows: ['a full pass with bad scores is used only when no draft gave text'], test: DOUBT,
  },
  {
    file: APPLY_PASS,
    before: '{ ...state, draft: \'doubted\' }',
    after: 'state',
    rows: ['speech that no draft could use gets one full pass before its audio is dropped'], test: DOUBT,
  },
  {
    file: APPLY_PASS,
    before: "hypothesis.isLoop === true ? 'loop' : judge(hypothesis, limits.vad)",
    after: 'judge(hypothesis, limits.vad)',
    rows: ['text that repeats itself is not shown, does not become final, and clears the context'], test: DOUBT,
  },
  {
    file: APPLY_PASS,
    before: 'pass.isSpeaking === true ? state : fixAll(state)',
    after: 'fixAll(state)',
    rows: ['half a word before repeating text stays open'], test: DOUBT,
  },
  {
    file: BUFFER_START,
    before: 'const HOLD_SAMPLES = 3 * SAMPLE_RATE',
    after: 'const HOLD_SAMPLES = 90 * SAMPLE_RATE',
    rows: ['a pause over three seconds empties the buffer and turns its words into context'], test: ATTENTION_POLICY,
  },
  {
    file: STATE,
    before: 'tokensOf(state.fixed.slice(0, count))',
    after: 'tokensOf(state.fixed.slice(0, 0))',
    rows: ['a pause over three seconds empties the buffer and turns its words into context'], test: ATTENTION_POLICY,
  },
  {
    file: FINALISATION,
    before: '[sentence, clause, older.length - 1].find(',
    after: '[older.length - 1].find(',
    rows: ['a full buffer is cut after a sentence, else a clause, else a word; no word is lost or repeated'],
    test: ATTENTION_POLICY,
  },
  {
    file: FINALISATION,
    before: 'i === 0 || end - state.bufferStart <= limits.buffer.longestWithContext',
    after: 'i === 0',
    rows: ['several ended phrases are transcribed in one pass, and each becomes its own segment'],
    test: ATTENTION_POLICY,
  },
  {
    file: POLICY,
    before: 'if (isCrowded(state, wanted, limits)) return',
    after: 'if (state.transcribedEnd < 0) return',
    rows: ['half a minute of backlog takes at most four passes, and each phrase becomes a segment'], test: PIPELINE,
  },
  {
    file: POLICY,
    before: 'each.end !== null && each.end > state.transcribedEnd',
    after: 'each.end === end && each.end > state.transcribedEnd',
    rows: ['a draft waits until min_buffer of new audio has arrived'], test: ATTENTION_POLICY,
  },
  {
    file: POLICY,
    before: 'pass.isDraft !== true || textOf(openWords(after)) === before',
    after: 'textOf(openWords(after)) === before',
    rows: ['without a detector an unchanged phrase is final even if its full pass differs from the drafts'],
    test: PIPELINE,
  },
  {
    file: FINALISATION,
    before: 'state.transcribedEnd - sampleAt(first.start) > limits.longestSegment',
    after: 'state.transcribedEnd < 0',
    rows: ['max_buffer ends segments in running speech'], test: PIPELINE,
  },
  {
    file: FINALISATION,
    before: 'clock + limits.interval / 2 >= sampleAt(oldest.end) + limits.maxDelay',
    after: 'clock < 0',
    rows: ['in mode final every word is final within max_delay'], test: PIPELINE,
  },
  {
    file: FINALISATION,
    before: 'wordsInFullCaptions(shownWords(state), limits.shape)',
    after: 'wordsInFullCaptions([], limits.shape)',
    rows: ['full captions become final immediately and respect max_chars and max_lines'], test: PIPELINE,
  },
  {
    file: APPLY_PASS,
    before: 'probability < DOUBTED_PROBABILITY ? DOUBTED_END_SAMPLES : UNSURE_END_SAMPLES',
    after: 'probability < 0 ? DOUBTED_END_SAMPLES : UNSURE_END_SAMPLES',
    rows: ['a doubted word waits for the following audio; an unlikely word is hidden meanwhile'],
    test: ATTENTION_POLICY,
  },
  {
    file: STATE,
    before: 'probability < MIN_SHOWN_PROBABILITY ||',
    after: 'probability < 0 ||',
    rows: ['a doubted word waits for the following audio; an unlikely word is hidden meanwhile'],
    test: ATTENTION_POLICY,
  },
  {
    file: APPLY_PASS,
    before: 'knownTo(state, pass) === state.fixed || isWhole(state, words)',
    after: 'words.length >= 0',
    rows: ['a full pass that ends much earlier than the drafts is ignored'], test: ATTENTION_POLICY,
  },
  {
    file: APPLY_PASS,
    before: 'last.endProbability >= SURE_PUNCTUATION\n',
    after: 'last.endProbability >= 0\n',
    rows: ['a pause ends a sentence only when the model is sure of it'], test: ATTENTION_POLICY,
  },
  {
    file: 'infrastructure/onnx/words/attention-times.ts',
    before: 'if (step !== NEXT_FRAME) token -= 1',
    after: 'if (step !== NEXT_TOKEN) token -= 1',
    rows: ['a token starts at the first frame that the attention heads attend to'], test: WORD_TIMES,
  },
  {
    file: 'infrastructure/onnx/words/token-words.ts',
    before: 'spoken: isPunctuation ? last.spoken : all.length',
    after: 'spoken: all.length',
    rows: ['a word starts with a space and includes the following punctuation'], test: WORD_TIMES,
  },
  {
    file: 'infrastructure/onnx/words/token-words.ts',
    before: 'if (text.endsWith(INCOMPLETE) && i < tokens.length - 1) continue',
    after: '',
    rows: ['tokens that share a character stay together'], test: WORD_TIMES,
  },
  {
    file: 'infrastructure/onnx/words/loops.ts',
    before: 'const LOOPS = [8, 5, 4, 3]',
    after: 'const LOOPS = [8, 5, 3, 3]',
    rows: ['a repetition is a loop'], test: WORD_TIMES,
  },
]
