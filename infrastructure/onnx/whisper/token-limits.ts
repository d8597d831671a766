import type { WhisperModel } from './whisper-model.ts'

/** The most tokens that may follow a prompt of `promptLength` tokens, for so many seconds of audio. */
export type TokenLimit = (model: WhisperModel, promptLength: number, seconds: number) => number

/** Nobody speaks faster than this many tokens a second; below the minimum, text is too short to judge. */
const TOKENS_PER_SECOND = 22.5
const FEWEST_TOKENS = 50

/** As the reference counts: as many as generation_config.json allows and the decoder has positions for. */
export const referenceLimit: TokenLimit = ({ maxLength, maxTargetPositions }, promptLength) =>
  Math.min(maxLength ?? Infinity, maxTargetPositions - promptLength)

/** Ours (decision 11): nor more than half of the positions, as in Whisper's own decoding, nor more than anybody can say. */
export const speechRateLimit: TokenLimit = (model, promptLength, seconds) =>
  Math.min(
    referenceLimit(model, promptLength, seconds),
    model.maxTargetPositions / 2,
    Math.max(FEWEST_TOKENS, Math.ceil(TOKENS_PER_SECOND * seconds)),
  )
