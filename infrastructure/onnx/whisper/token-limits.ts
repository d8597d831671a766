import type { WhisperModel } from './whisper-model.ts'

/** Returns the maximum number of tokens after a prompt of `promptLength` tokens, for an audio of `seconds`. */
export type TokenLimit = (model: WhisperModel, promptLength: number, seconds: number) => number

/** Even fast speech does not have more tokens per second. */
const TOKENS_PER_SECOND = 22.5
/** Limit of very short audio, whose rate of tokens says little. */
const MIN_TOKENS = 50

/** The reference's limit: max_length of generation_config.json, and the positions of the decoder. */
export const referenceLimit: TokenLimit = ({ maxLength, maxTargetPositions }, promptLength) =>
  Math.min(maxLength ?? Infinity, maxTargetPositions - promptLength)

/** Our limit (decision 11): also half of the positions, as in Whisper's own decoding, and the rate of fast speech. */
export const speechRateLimit: TokenLimit = (model, promptLength, seconds) =>
  Math.min(
    referenceLimit(model, promptLength, seconds),
    model.maxTargetPositions / 2,
    Math.max(MIN_TOKENS, Math.ceil(TOKENS_PER_SECOND * seconds)),
  )
