import * as E from 'fp-ts/lib/Either.js'
import { Tokenizer } from '@huggingface/tokenizers'
import { Tensor } from 'onnxruntime-node'
import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import { mergedDecoder, twoFileDecoder } from '../../infrastructure/onnx/decoder.ts'
import { compressionRatioOf } from '../../infrastructure/onnx/hypothesis.ts'
import { createLogMel } from '../../infrastructure/onnx/whisper/log-mel.ts'
import { applyRules, chooseToken, type LogitsRules } from '../../infrastructure/onnx/logits.ts'
import { readWhisperDirectory } from '../../infrastructure/onnx/whisper/whisper-directory.ts'
import { openSession } from '../../infrastructure/onnx/sessions.ts'

/** A model that transcribes a whole recording at once. */
export interface OfflineModel {
  readonly transcribe: (samples: Int16Array, language: string) => Promise<string>
  readonly release: () => Promise<void>
}

/** A text with a higher compression ratio repeats itself. OpenAI's loop and faster-whisper use the same limit. */
const MAX_COMPRESSION_RATIO = 2.4
/** Less audio than this after the last timestamp gets no window of its own. */
const MIN_REMAINING_SAMPLES = 2 * SAMPLE_RATE

/**
 * Opens a model with Whisper's plain loop: it decodes windows of 30 s greedily, and the next window begins at the last
 * timestamp. Frames after the end of the audio are 0, as in faster-whisper.
 *
 * @param context whether each window gets the earlier text as its prompt, as in OpenAI's loop
 */
export const openOffline = async (folder: string, context: boolean): Promise<OfflineModel> => {
  const directory = await readWhisperDirectory(folder)
  if (E.isLeft(directory)) throw new Error(directory.left)
  const model = directory.right
  const { weights, multilingual, timestampRules, maxTargetPositions, windowSamples, endOfText } = model
  const decoder =
    weights.decoder.kind === 'two'
      ? twoFileDecoder(await openSession(weights.decoder.prompt), await openSession(weights.decoder.next))
      : mergedDecoder(await openSession(weights.decoder.file), model)
  // The product opens the encoder with the same options.
  const encoder = await openSession(weights.encoder, { isExact: decoder.hasAttention })
  const tokenizer = new Tokenizer(model.tokenizer.json, model.tokenizer.config)
  const logMel = createLogMel(model.mel)
  const startOfPrevious = tokenizer.token_to_id('<|startofprev|>')
  const rules: LogitsRules = { ...model, timestamps: timestampRules }
  const textOf = (tokens: ReadonlyArray<number>): string => {
    const text = tokens.filter((token) => token < endOfText)
    return text.length === 0 ? '' : tokenizer.decode(text, { clean_up_tokenization_spaces: false })
  }

  const promptOf = (language: string, before: ReadonlyArray<number>): ReadonlyArray<number> => {
    const hasContext = before.length > 0 && startOfPrevious !== undefined
    const contextTokens = hasContext ? [startOfPrevious, ...before.slice(1 - maxTargetPositions / 2)] : []
    if (multilingual === null) return [...contextTokens, model.startOfTranscript]
    const languageToken = multilingual.languageTokens.get(language)
    if (languageToken === undefined) throw new Error(`the model does not know the language ${language}`)
    return [...contextTokens, model.startOfTranscript, languageToken, multilingual.transcribe]
  }

  const decode = async (encoded: Tensor, prompt: ReadonlyArray<number>): Promise<ReadonlyArray<number>> => {
    const tokens: Array<number> = []
    let step = await decoder.open(encoded, [prompt])
    for (;;) {
      const { data, dims } = step.logits
      if (!(data instanceof Float32Array)) throw new Error(`logits are ${step.logits.type}, not float32`)
      const logits = data.subarray(data.length - (dims[2] ?? 0))
      applyRules(logits, tokens, rules)
      const { token } = chooseToken(logits)
      if (token === endOfText) return tokens
      tokens.push(token)
      if (prompt.length + tokens.length >= maxTargetPositions) return tokens
      step = await step.next([token])
    }
  }

  const isTime = (token: number | undefined): boolean => token !== undefined && token >= timestampRules.begin
  /**
   * Returns the number of samples that the text of a window covers: up to its last pair of timestamps, or up to a
   * single timestamp at its end. `length`: samples in the window. `remaining`: samples to the end of the audio. After a
   * single timestamp Whisper's own loop skips the rest of the window. With 8-bit weights this would lose sentences.
   */
  const reachOf = (tokens: ReadonlyArray<number>, length: number, remaining: number): number => {
    const last = tokens.findLastIndex((token, i) => isTime(token) && (isTime(tokens[i - 1]) || i === tokens.length - 1))
    const steps = (tokens[last] ?? timestampRules.begin) - timestampRules.begin
    const reach = Math.round(steps * model.timePrecision * SAMPLE_RATE)
    return reach >= SAMPLE_RATE && remaining - reach >= MIN_REMAINING_SAMPLES ? reach : length
  }

  return {
    transcribe: async (samples, language) => {
      const texts: Array<string> = []
      let before: ReadonlyArray<number> = []
      for (let from = 0; from < samples.length; ) {
        const window = new Float32Array(windowSamples)
        window.set(Float32Array.from(samples.subarray(from, from + windowSamples), (sample) => sample / 32_768))
        const length = Math.min(windowSamples, samples.length - from)
        const { data, frames } = logMel(window)
        for (let mel = 0; mel < model.mel.melBins; mel += 1)
          data.fill(0, mel * frames + Math.min(frames, Math.ceil(length / model.mel.hopLength)), (mel + 1) * frames)
        const features = new Tensor('float32', data, [1, model.mel.melBins, frames])
        const { last_hidden_state: encoded } = await encoder.run({ input_features: features })
        if (encoded === undefined) throw new Error('the encoder has no output "last_hidden_state"')
        let tokens = await decode(encoded, promptOf(language, before))
        if (before.length > 0 && compressionRatioOf(textOf(tokens)) > MAX_COMPRESSION_RATIO)
          tokens = await decode(encoded, promptOf(language, []))
        const reach = reachOf(tokens, length, samples.length - from)
        // The next window transcribes the audio after the last timestamp again, so drop its tokens.
        const kept = reach < length ? tokens.slice(0, tokens.findLastIndex(isTime)) : tokens
        texts.push(textOf(kept))
        if (context) before = [...before, ...kept.filter((token) => token < endOfText)]
        from += reach
      }
      return texts.join('').trim()
    },
    release: async () => {
      await encoder.release()
      await decoder.release()
    },
  }
}
