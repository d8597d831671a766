import type { Mutant } from './mutant.ts'

const EXACTNESS = 'test/contract/engine/exactness.test.ts'
const WHISPER_RUNNER = 'test/contract/engine/whisper-runner.test.ts'
const LOGITS = 'test/unit/engine/logits.test.ts'
const LOG_MEL = 'test/unit/engine/log-mel.test.ts'
const HYPOTHESIS = 'test/unit/engine/hypothesis.test.ts'
const MARIAN_RUNNER = 'test/contract/engine/marian-runner.test.ts'
const FAMILIES = 'test/e2e/engine/families.test.ts'
const SHORT_WINDOW = 'test/contract/engine/short-window.test.ts'
const VOICE_ACTIVITY = 'test/contract/engine/voice-activity.test.ts'

/** Decoding, features and translations equal the reference, and a model folder selects its loader. */
export const onnxMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/onnx/decoding.ts',
    before: 'row.sum / row.logprobs.length',
    after: 'row.sum / row.tokens.length',
    rows: ["tokens and scores equal the reference"], test: EXACTNESS,
  },
  {
    file: 'infrastructure/onnx/decoding.ts',
    before: 'if (row.ended) return rules.endOfText',
    after: '',
    rows: ['batched texts equal the reference'], test: EXACTNESS,
  },
  {
    file: 'infrastructure/onnx/decoder.ts',
    before: 'const index = row * positions + (position',
    after: 'const index = (position',
    rows: ['batched texts equal the reference'], test: EXACTNESS,
  },
  {
    file: 'infrastructure/onnx/decoder.ts',
    before: `const cache = { ...past, ...asPast(results) }
    return {
      logits: logitsOf(results),
      crossAttention: attentionIn(results),
      next: async (tokens) => {
        const feeds`,
    after: `const cache = { ...asPast(results), ...past }
    return {
      logits: logitsOf(results),
      crossAttention: attentionIn(results),
      next: async (tokens) => {
        const feeds`,
    rows: ['a merged decoder equals two decoder files'], test: WHISPER_RUNNER,
  },
  {
    file: 'infrastructure/onnx/logits.ts',
    before: 'if (generated.length === 0) forbid(logits, rules.suppressedAtBegin)',
    after: '',
    rows: ['without timestamps only the suppress lists count'], test: LOGITS,
  },
  {
    file: 'infrastructure/onnx/logits.ts',
    before: '  forbid(logits, rules.suppressed)\n',
    after: '',
    rows: ['without timestamps only the suppress lists count'], test: LOGITS,
  },
  {
    file: 'infrastructure/onnx/logits.ts',
    before: 'isLastTimestamp && !isPenultimateTimestamp ? latest : latest + 1',
    after: 'latest + 1',
    rows: ['after text and a timestamp comes an equal or later timestamp'], test: LOGITS,
  },
  {
    file: 'infrastructure/onnx/logits.ts',
    before: 'begin + maxInitialIndex + 1)',
    after: 'begin + maxInitialIndex + 2)',
    rows: ['the first token is a timestamp of at most the highest initial index'], test: LOGITS,
  },
  {
    file: 'infrastructure/onnx/logits.ts',
    before: 'if (!reaches(logits, begin, totalOf(logits.subarray(begin)).logSumExp))',
    after: 'if (!reaches(logits, begin, totalOf(logits.subarray(begin)).highest))',
    rows: ['only timestamps are allowed when together they are likelier'], test: LOGITS,
  },
  {
    file: 'infrastructure/onnx/whisper/log-mel.ts',
    before: '-Infinity) - 8',
    after: '-Infinity) - 9',
    rows: ['the log-mel features equal the reference'], test: LOG_MEL,
  },
  {
    file: 'infrastructure/onnx/whisper/log-mel.ts',
    before: 'padded[half - 1 - i] = samples[i + 1] ?? 0',
    after: 'padded[half - 1 - i] = samples[i] ?? 0',
    rows: ['the log-mel features equal the reference'], test: LOG_MEL,
  },
  {
    file: 'infrastructure/onnx/whisper/log-mel.ts',
    before: 'if (frame + 1 < frames) data[',
    after: 'if (frame + 2 < frames) data[',
    rows: ['with an even number of frames the last frame is correct'], test: LOG_MEL,
  },
  {
    file: 'infrastructure/onnx/whisper/log-mel.ts',
    before: 'const LOWEST_POWER = 1e-10',
    after: 'const LOWEST_POWER = 1e-8',
    rows: ['silence has its known value'], test: LOG_MEL,
  },
  {
    file: 'infrastructure/onnx/hypothesis.ts',
    before: 'Math.min((token - timestampBegin) * timePrecision, seconds)',
    after: '(token - timestampBegin) * timePrecision',
    rows: ['timestamps after the end of the audio become its end'], test: HYPOTHESIS,
  },
  {
    file: 'infrastructure/onnx/hypothesis.ts',
    before: '  close(seconds)\n  return',
    after: '  return',
    rows: ['text without a closing timestamp reaches to the end of the audio'], test: HYPOTHESIS,
  },
  {
    file: 'infrastructure/onnx/whisper/whisper-runner.ts',
    before: 'const TRAILING_SILENCE = 0.5',
    after: 'const TRAILING_SILENCE = 0',
    rows: ["tokens and scores equal the reference"], test: EXACTNESS,
  },
  {
    file: 'infrastructure/onnx/whisper/whisper-runner.ts',
    before: 'if (length > model.windowSamples)\n',
    after: 'if (length < 0)\n',
    rows: ['audio longer than the window is refused'], test: WHISPER_RUNNER,
  },
  {
    file: 'infrastructure/onnx/whisper/whisper-graphs.ts',
    before: 'features.set(window.data, row * data.length)',
    after: 'features.set(window.data, 0)',
    rows: ['batched texts equal the reference'], test: EXACTNESS,
  },
  {
    file: 'infrastructure/onnx/marian-runner.ts',
    before: 'if (fits && last < logits.length) logits[last] = -Infinity',
    after: '',
    rows: ['the tokens equal the greedy search of the reference'], test: MARIAN_RUNNER,
  },
  {
    file: 'infrastructure/onnx/marian-runner.ts',
    before: '[target]), ...ids, end]',
    after: '[target]), ...ids]',
    rows: ['the tokens equal the greedy search of the reference'], test: MARIAN_RUNNER,
  },
  {
    file: 'infrastructure/onnx/marian-runner.ts',
    before: 'const halves = ids.length > model.maxSource ? halvesOf(text) : null',
    after: 'const halves = null as readonly [string, string] | null',
    rows: ['a sentence that is too long is split, if possible at spaces'], test: MARIAN_RUNNER,
  },
  {
    file: 'infrastructure/onnx/voice-activity.ts',
    before: 'after.set(frames.subarray(-CONTEXT), RECURRENT)',
    after: '',
    rows: ['the split of frames between calls changes nothing'], test: VOICE_ACTIVITY,
  },
  {
    file: 'infrastructure/onnx/families.ts',
    before: 'FAMILIES.find(({ fits }) => fits({ modelType, files: found.right }))',
    after: 'FAMILIES[0]',
    rows: ['the layout of a folder selects the second family'], test: FAMILIES,
  },
  {
    file: 'infrastructure/onnx/families.ts',
    before: 'files: found.right })',
    after: 'files: [] })',
    rows: ['the layout of a folder selects the second family'], test: FAMILIES,
  },
  {
    file: 'infrastructure/onnx/graphs/short-window.ts',
    before: '[constant, ZERO, LENGTH, AXIS]',
    after: '[constant, ONE, LENGTH, AXIS]',
    rows: ['an encoder that was changed from full windows to any window keeps its results'], test: SHORT_WINDOW,
  },
  {
    file: 'infrastructure/onnx/whisper/whisper-runner.ts',
    before: 'windowFor(audio, audio.isDraft === true)',
    after: 'windowFor(audio, false)',
    rows: ['drafts use short windows even if the model was exported for full windows'], test: SHORT_WINDOW,
  },
  {
    file: 'infrastructure/catalogue/trial.ts',
    before: 'loaded.right.windowSeconds * SAMPLE_RATE',
    after: 'SAMPLE_RATE',
    rows: ['a model of a second family is verified, and its trial uses the longest audio'], test: FAMILIES,
  },
  {
    file: 'infrastructure/onnx/process/lanes.ts',
    before: 'const outcomeOnCpu = await cpu.run(task, onBegin, signal)',
    after: 'const outcomeOnCpu = outcome',
    rows: ['if a GPU lacks memory, the CPU runs the model until its next load'],
    test: 'test/e2e/engine/lanes.test.ts',
  },
  {
    file: 'infrastructure/onnx/loaded-models.ts',
    before: 'isDeviceLost(error) ? [...loaded.keys()] : [model]',
    after: '[model]',
    rows: ['when a GPU is lost, all models are released'],
    test: 'test/e2e/engine/loaded-models.test.ts',
  },
  {
    file: 'infrastructure/onnx/process/worker-pool.ts',
    before: "if (other === job) worker.postMessage({ kind: 'cancel', place } satisfies Cancel)",
    after: 'if (other === job) void worker',
    rows: ['a waiting job and a running job end when they are cancelled'],
    test: 'test/e2e/engine/lanes.test.ts',
  },
  {
    file: 'infrastructure/onnx/decoding.ts',
    before: '    step.close()\n',
    after: '',
    rows: ['WebGPU transcribes single and batched recordings like the CPU'],
    test: 'test/e2e/engine/webgpu.test.ts',
  },
  {
    file: 'infrastructure/onnx/decoder.ts',
    before: 'graph.outputNames.filter(isRead)',
    after: 'graph.outputNames',
    rows: ['a decoder fetches only the outputs that are read'],
    test: 'test/unit/engine/decoder.test.ts',
  },
  {
    file: 'infrastructure/onnx/fft.ts',
    before: 'to[(target += write)] = re0 - re2 + im1 - im3',
    after: 'to[(target += write)] = re0 - re2 + im1 + im3',
    rows: ['the transform is the discrete Fourier transform for any size'], test: LOG_MEL,
  },
  {
    file: 'infrastructure/onnx/providers/execution-provider.ts',
    before: "['webgpu', 'cuda', 'cpu'] as const",
    after: "['cuda', 'webgpu', 'cpu'] as const",
    rows: ['the first provider that works and is faster than the CPU is chosen, with the reasons'],
    test: 'test/e2e/engine/execution-provider.test.ts',
  },
]
