import * as E from 'fp-ts/lib/Either.js'
import { Tokenizer } from '@huggingface/tokenizers'
import { type Hypothesis, SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { logitsAt } from '../decoder.ts'
import { type Decoded, decodeGreedily, type TextRequest } from '../decoding.ts'
import type { Provider } from '../providers/execution-provider.ts'
import { compressionRatioOf, segmentsOf } from '../hypothesis.ts'
import { createLogMel, windowOf } from './log-mel.ts'
import { probabilityOf } from '../logits.ts'
import { CANCELLED, type SpeechRequest } from '../speech-runner.ts'
import { speechRateLimit, type TokenLimit } from './token-limits.ts'
import { timedWords } from '../words/timed-words.ts'
import { createVocabularies } from '../words/vocabulary.ts'
import { openGraphs, SHORTEST_WINDOW } from './whisper-graphs.ts'
import { languageBy, promptFor, type WhisperModel } from './whisper-model.ts'
import { type Audio, type DecodedWindow, hasKnownLanguage, type Placed, type WhisperRunner } from './whisper-pass.ts'

/** Seconds of silence after the audio. Without them, audio that ends within a word makes Whisper repeat itself. */
const TRAILING_SILENCE = 0.5
/** Seconds of silence after a draft, for models trained only on full windows. With less, they invent words. */
const SILENCE_AFTER_DRAFT = 2.56
/** Above this probability of no speech, the model may repeat its prompt, so the audio is decoded again without it. */
const ECHOING = 0.2

/** Tokens of a trial text: the length of a phrase. */
const REHEARSED_TOKENS = 16

const lastOf = (tokens: ReadonlyArray<number>, count: number): ReadonlyArray<number> =>
  tokens.slice(Math.max(0, tokens.length - count))

const hasPrompt = ({ vocabulary }: Audio): boolean => (vocabulary?.prompt.trim() ?? '') !== ''
const withoutPrompt = ({ vocabulary, ...audio }: Audio): Audio => ({
  ...audio,
  vocabulary: { prompt: '', hotwords: vocabulary?.hotwords ?? [] },
})

const NOTHING_BEFORE = { context: [], prefix: [] }

/** Loads the weights. Throws onnxruntime's error when a file is damaged. */
export const loadWhisper = async (
  model: WhisperModel,
  limit: TokenLimit = speechRateLimit,
  provider: Provider = 'cpu',
): Promise<WhisperRunner> => {
  const tokenizer = new Tokenizer(model.tokenizer.json, model.tokenizer.config)
  const graphs = await openGraphs(model, provider)
  const { decoder, hasWordTimes, acceptsShortWindows, acceptsBatches } = graphs
  const logMel = createLogMel(model.mel)
  const windowSeconds = model.windowSamples / SAMPLE_RATE
  const layout = {
    timestampBegin: model.timestampRules.begin,
    timePrecision: model.timePrecision,
    endOfText: model.endOfText,
  }
  const rules = {
    suppressed: model.suppressed,
    suppressedAtBegin: model.suppressedAtBegin,
    endOfText: model.endOfText,
    timestamps: model.timestamps ? model.timestampRules : null,
  }
  const times = Array.from(
    { length: Math.round(windowSeconds / model.timePrecision) + 1 },
    (_, i) => model.timestampRules.begin + i,
  )
  const textOnly = { ...rules, suppressed: [...rules.suppressed, ...times], timestamps: null }
  const decodeText = (tokens: ReadonlyArray<number>): string =>
    // The tokenizer throws on an empty list. Its clean-up would remove the space before a French `?`.
    tokens.length === 0 ? '' : tokenizer.decode([...tokens], { clean_up_tokenization_spaces: false })

  const encodeVocabulary = createVocabularies(tokenizer, decodeText, model.endOfText)
  const vocabularyOf = (given: Audio['vocabulary']) => encodeVocabulary(model.takesVocabulary ? given : undefined)

  const windowFor = ({ samples }: SpeechRequest, isDraft: boolean): Float32Array => {
    const { length } = samples
    if (length > model.windowSamples)
      throw new Error(`${length} samples are more than the window of ${windowSeconds} s`)
    const draftSilence = isDraft ? SILENCE_AFTER_DRAFT : null
    const silence = acceptsShortWindows ? (model.dynamicWindow ? TRAILING_SILENCE : draftSilence) : null
    const wanted = Math.max(length + (silence ?? Infinity) * SAMPLE_RATE, SHORTEST_WINDOW * SAMPLE_RATE)
    const step = 2 * model.mel.hopLength
    return windowOf(samples, Math.min(model.windowSamples, Math.ceil(wanted / step) * step))
  }

  const findLanguage = async (request: SpeechRequest): Promise<Hypothesis> => {
    const step = await graphs.encode([logMel(windowFor(request, true))], (encoded) =>
      decoder.open(encoded, [[model.startOfTranscript]]),
    )
    step.close()
    const logits = logitsAt(step, 0, 0)
    const noSpeechProb = model.noSpeech === null ? 0 : probabilityOf(logits, model.noSpeech)
    return { segments: [], avgLogprob: 0, noSpeechProb, compressionRatio: 0, language: languageBy(logits, model) }
  }

  /**
   * Returns the text before the audio. As in Whisper's own decoding, prompt and text fill at most half of the
   * positions.
   */
  const textBefore = (
    prompt: ReadonlyArray<number>,
    context: ReadonlyArray<number>,
    taken: number,
  ): ReadonlyArray<number> => {
    const room = Math.max(0, Math.floor(model.maxTargetPositions / 2) - 1 - taken)
    const first = lastOf(prompt, room)
    const text = [...first, ...lastOf(context, room - first.length)]
    return model.startOfPrevious === null || text.length === 0 ? [] : [model.startOfPrevious, ...text]
  }

  const textRequestOf = ({ samples: { length }, beginning, vocabulary, signal, ...audio }: Audio): TextRequest => {
    const prompted = promptFor(model, audio, beginning === undefined ? model.timestamps : false)
    if (E.isLeft(prompted)) throw new Error(prompted.left)
    const { right: start } = prompted
    if (beginning !== undefined && !hasWordTimes)
      throw new Error('the model has no word times, so it accepts no beginning')
    const { context, prefix } = beginning ?? NOTHING_BEFORE
    const { prompt: expected, hotwords } = vocabularyOf(vocabulary)
    const before = textBefore(expected, context, start.length + prefix.length)
    const prompt = [...before, ...start, ...prefix]
    const wanted = {
      prompt,
      limit: limit(model, prompt.length, length / SAMPLE_RATE),
      known: prefix.length,
      start: before.length,
      ...(hotwords && { hotwords }),
      ...(signal && { signal }),
    }
    return beginning === undefined
      ? wanted
      : { ...wanted, follow: { from: before.length + start.length - 1, heads: model.alignmentHeads } }
  }

  const decodedWindow = ({ tokens, avgLogprob, firstLogits, ...followed }: Decoded): DecodedWindow => ({
    tokens,
    avgLogprob,
    followed,
    noSpeechProb: model.noSpeech === null ? 0 : probabilityOf(firstLogits, model.noSpeech),
  })

  const decodeTogether = async (
    audios: ReadonlyArray<Audio>,
    onText: (index: number, decoded: DecodedWindow) => void,
  ): Promise<void> => {
    const prepared = audios.map((audio, index) => ({
      index,
      wanted: textRequestOf(audio),
      window: windowFor(audio, audio.isDraft === true),
    }))
    // The rows of one run need prompts of one length and windows of one length.
    const groups = Object.groupBy(
      prepared,
      ({ index, wanted, window }) =>
        `${wanted.prompt.length} ${wanted.follow === undefined} ${window.length} ${acceptsBatches ? '' : index}`,
    )
    const withEcho: Array<Placed> = []
    for (const group of Object.values(groups)) {
      if (group === undefined) continue
      const wanted = group.map((row) => row.wanted)
      const allowed = wanted[0]?.follow === undefined ? rules : textOnly
      const mels = group.map(({ window }) => logMel(window))
      await graphs.encode(mels, (encoded) =>
        decodeGreedily(decoder, encoded, wanted, allowed, (row, decoded) => {
          const { index = 0 } = group[row] ?? {}
          const [audio, window] = [audios[index], decodedWindow(decoded)]
          if (audio !== undefined && hasPrompt(audio) && window.noSpeechProb > ECHOING)
            withEcho.push({ index, audio: withoutPrompt(audio) })
          else onText(index, window)
        }),
      )
    }
    if (withEcho.length > 0)
      await decodeTogether(
        withEcho.map(({ audio }) => audio),
        (row, window) => onText(withEcho[row]?.index ?? 0, window),
      )
  }

  const decode = async (audio: Audio): Promise<DecodedWindow> => {
    const found: Array<DecodedWindow> = []
    await decodeTogether([audio], (_, decoded) => found.push(decoded))
    const [decoded] = found
    if (decoded === undefined) throw new Error(CANCELLED)
    return decoded
  }

  const rehearse = async (texts: number): Promise<number> => {
    const silence = logMel(windowFor({ samples: new Int16Array(0), language: null }, true))
    const endless = { ...textOnly, suppressed: [...textOnly.suppressed, model.endOfText] }
    const wanted = { prompt: [model.startOfTranscript], limit: REHEARSED_TOKENS }
    const several = <A>(item: A): ReadonlyArray<A> => Array.from({ length: texts }, () => item)
    const began = performance.now()
    await graphs.encode(several(silence), (encoded) =>
      decodeGreedily(decoder, encoded, several(wanted), endless, () => undefined),
    )
    return performance.now() - began
  }

  const hypothesisOf = (audio: Audio, decoded: DecodedWindow): Hypothesis => {
    const { tokens, avgLogprob, noSpeechProb, followed } = decoded
    const seconds = audio.samples.length / SAMPLE_RATE
    const segments = segmentsOf(tokens, seconds, layout, decodeText)
    const compressionRatio = compressionRatioOf(segments.map(({ text }) => text).join(''))
    const hypothesis = { segments, avgLogprob, noSpeechProb, compressionRatio }
    if (audio.beginning === undefined) return hypothesis
    const { length: known } = audio.beginning.prefix
    const words = timedWords({ ...followed, tokens, known, seconds, timePrecision: model.timePrecision }, decodeText)
    return { ...hypothesis, words, isLoop: followed.isLoop }
  }

  return {
    windowSeconds,
    hasWordTimes,
    decode,
    decodeTogether,
    ...(acceptsBatches && { rehearse }),
    release: graphs.release,
    transcribe: async (request) =>
      hasKnownLanguage(request) ? hypothesisOf(request, await decode(request)) : findLanguage(request),
    transcribeTogether: async (requests, onText) => {
      const audios = requests.flatMap((audio, index): ReadonlyArray<Placed> =>
        hasKnownLanguage(audio) ? [{ audio, index }] : [],
      )
      await decodeTogether(
        audios.map(({ audio }) => audio),
        (row, decoded) => {
          const { audio, index } = audios[row] ?? {}
          if (audio !== undefined && index !== undefined) onText(index, hypothesisOf(audio, decoded))
        },
      )
      for (const [index, request] of requests.entries()) {
        if (!hasKnownLanguage(request)) onText(index, await findLanguage(request))
      }
    },
  }
}
