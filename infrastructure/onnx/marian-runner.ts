import { Tokenizer } from '@huggingface/tokenizers'
import { Tensor } from 'onnxruntime-node'
import { sentencesOf } from '../../domain/transcript/sentences.ts'
import { type Decoder, idsTensor, logitsAt, mergedDecoder, twoFileDecoder } from './decoder.ts'
import type { MarianModel } from './marian-model.ts'
import { openSession } from './sessions.ts'

/** One run of the model: a sentence, or a part of a sentence that is too long for the model. */
export interface TranslatedPiece {
  readonly source: string
  /** Tokens without start and end; empty when there was nothing to translate. */
  readonly tokens: ReadonlyArray<number>
  readonly text: string
}

export interface MarianTranslation {
  readonly text: string
  readonly pieces: ReadonlyArray<TranslatedPiece>
}

/** A loaded translator. It keeps no state between calls. */
export interface MarianRunner {
  /** Translates a text sentence by sentence. `from` and `to` are ISO 639-1 codes. */
  readonly translate: (text: string, from: string, to: string) => Promise<MarianTranslation>
  /** Releases the memory. The runner must not be used afterwards. */
  readonly release: () => Promise<void>
}

/** Languages written without spaces between sentences. */
const UNSPACED = new Set(['zh', 'ja', 'th', 'lo', 'km', 'my', 'bo'])
const NO_LETTER_OR_DIGIT = /^[^\p{L}\p{N}]*$/u

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Splits a text into two similar lengths, at a space if possible; null when it cannot be split. */
const halvesOf = (text: string): readonly [string, string] | null => {
  const cuts = Array.from(text.matchAll(/\s+/gu), ({ index }) => index)
  const places = cuts.length > 0 ? cuts : Array.from(graphemes.segment(text), ({ index }) => index).slice(1)
  const middle = text.length / 2
  const [first] = places
  if (first === undefined) return null
  const cut = places.reduce((best, place) => (Math.abs(place - middle) < Math.abs(best - middle) ? place : best), first)
  return [text.slice(0, cut).trim(), text.slice(cut).trim()]
}

/** Returns the canonical code of a language: `fra` and `fr` become `fr`. */
const canonical = (code: string): string => Intl.getCanonicalLocales(code)[0] ?? code

/**
 * Returns the tokens such as `>>fra<<` that select the target language of a multilingual model, by canonical code. If a
 * language has several tokens, the plainest counts: `>>pt<<` before `>>por<<` before `>>pt_br<<`.
 */
const targetTokens = (vocabulary: ReadonlyMap<string, number>): ReadonlyMap<string, number> => {
  const found = [...vocabulary].flatMap(([piece, id]) => {
    const name = /^>>([A-Za-z]{2,3}(?:_\w+)?)<<$/.exec(piece)?.[1]
    if (name === undefined) return []
    return [{ code: canonical(name.split('_', 1)[0] ?? ''), name, id }]
  })
  found.sort((a, b) => a.name.length - b.name.length || a.id - b.id)
  const byCode = new Map<string, number>()
  for (const { code, id } of found) if (!byCode.has(code)) byCode.set(code, id)
  return byCode
}

const forbid = (logits: Float32Array, generated: ReadonlyArray<number>, banned: MarianModel['banned']): void => {
  for (const sequence of banned) {
    const before = sequence.slice(0, -1)
    const last = sequence.at(-1) ?? -1
    const fits = before.every((token, index) => generated[generated.length - before.length + index] === token)
    if (fits && last < logits.length) logits[last] = -Infinity
  }
}

/** Returns the likeliest token; of equally likely tokens the smallest id, as in the reference. */
const likeliest = (logits: Float32Array): number => {
  let token = 0
  for (let i = 1; i < logits.length; i++) if ((logits[i] ?? 0) > (logits[token] ?? 0)) token = i
  return token
}

const openDecoder = async (model: MarianModel): Promise<Decoder> => {
  const { decoder } = model.weights
  return decoder.kind === 'two'
    ? twoFileDecoder(await openSession(decoder.prompt), await openSession(decoder.next))
    : mergedDecoder(await openSession(decoder.file), model)
}

/** Decodes greedily, like the reference with one beam. The graph already contains final_logits_bias. */
const decode = async (
  model: MarianModel,
  decoder: Decoder,
  encoded: Tensor,
  mask: Tensor,
): Promise<ReadonlyArray<number>> => {
  const generated = [model.startToken]
  let step = await decoder.open(encoded, [generated], { encoder_attention_mask: mask })
  for (;;) {
    const logits = logitsAt(step, 0, -1)
    forbid(logits, generated, model.banned)
    const token = likeliest(logits)
    if (model.endTokens.includes(token)) break
    generated.push(token)
    if (generated.length > model.maxTokens) break
    step = await step.next([token])
  }
  return generated.slice(1)
}

/** Loads the weights. Throws the error of onnxruntime or the tokenizer when a file is damaged. */
export const loadMarian = async (model: MarianModel): Promise<MarianRunner> => {
  const tokenizer = new Tokenizer(model.tokenizer.json, model.tokenizer.config)
  const targets = targetTokens(tokenizer.get_vocab())
  const encoder = await openSession(model.weights.encoder)
  const decoder = await openDecoder(model)
  const cleansUp =
    'clean_up_tokenization_spaces' in model.tokenizer.config &&
    model.tokenizer.config.clean_up_tokenization_spaces === true
  const [end = 0] = model.endTokens

  /** Encodes a text: the target's token if the vocabulary has one, the text, and one end token. */
  const idsOf = (text: string, to: string): ReadonlyArray<number> => {
    const { ids } = tokenizer.encode(text, { add_special_tokens: false })
    const target = targets.get(canonical(to))
    return [...(target === undefined ? [] : [target]), ...ids, end]
  }

  const textOf = (tokens: ReadonlyArray<number>): string =>
    // The tokenizer throws on an empty list.
    tokens.length === 0
      ? ''
      : tokenizer.decode([...tokens], { skip_special_tokens: true, clean_up_tokenization_spaces: cleansUp }).trim()

  const run = async (source: string, ids: ReadonlyArray<number>): Promise<TranslatedPiece> => {
    const mask = new Tensor('int64', new BigInt64Array(ids.length).fill(1n), [1, ids.length])
    const { last_hidden_state: encoded } = await encoder.run({ input_ids: idsTensor([ids]), attention_mask: mask })
    if (encoded === undefined) throw new Error('the encoder has no output "last_hidden_state"')
    const tokens = await decode(model, decoder, encoded, mask)
    return { source, tokens, text: textOf(tokens) }
  }

  const translateSentence = async (text: string, to: string): Promise<ReadonlyArray<TranslatedPiece>> => {
    if (NO_LETTER_OR_DIGIT.test(text)) return [{ source: text, tokens: [], text }]
    const ids = idsOf(text, to)
    const halves = ids.length > model.maxSource ? halvesOf(text) : null
    if (halves === null)
      return [await run(text, ids.length > model.maxSource ? [...ids.slice(0, model.maxSource - 1), end] : ids)]
    const [first, second] = halves
    return [...(await translateSentence(first, to)), ...(await translateSentence(second, to))]
  }

  return {
    release: async () => {
      await encoder.release()
      await decoder.release()
    },
    translate: async (text, from, to) => {
      const pieces: Array<TranslatedPiece> = []
      for (const sentence of sentencesOf(text, from)) pieces.push(...(await translateSentence(sentence, to)))
      const texts = pieces.map((piece) => piece.text).filter((part) => part !== '')
      return { text: texts.join(UNSPACED.has(to) ? '' : ' '), pieces }
    },
  }
}
