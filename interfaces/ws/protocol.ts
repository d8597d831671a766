import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import { parseJson } from '../../domain/shared/parse-json.ts'
import { sentMembers, settingsBody } from '../http/codecs/settings-codec.ts'

/** 10 s of 16-bit PCM at 16 kHz. */
export const MAX_AUDIO_BYTES = 10 * SAMPLE_RATE * 2

export type BadFrame = 'invalid_message' | 'invalid_config' | 'invalid_audio'

/** A text frame with a known type. Its other members are not checked yet. */
export interface ClientFrame {
  readonly type: 'config' | 'audio' | 'finish' | 'ping'
  readonly body: object
}

const TYPES: ReadonlyMap<unknown, ClientFrame['type']> = new Map([
  ['config', 'config'],
  ['audio', 'audio'],
  ['FINISH', 'finish'],
  ['__FINISH__', 'finish'],
  ['ping', 'ping'],
])

/** Parses a text frame. Left: invalid JSON, not an object, or a missing or unknown `type`. */
export const parseFrame = (text: string): Either<'invalid_message', ClientFrame> => {
  const body = parseJson(text)
  if (typeof body !== 'object' || body === null || !('type' in body)) return E.left('invalid_message')
  const type = TYPES.get(body.type)
  return type === undefined ? E.left('invalid_message') : E.right({ type, body })
}

/** The members that a config frame contains. */
export interface SentConfig {
  readonly settings: Partial<EngineSettings>
  readonly vocabulary: GivenVocabulary
}

/** Decodes a config frame. `null` counts as left out, as in REST. Unknown members are ignored. */
export const decodeConfig = (body: object): Either<'invalid_config', SentConfig> => {
  const decoded = settingsBody.decode(body)
  if (E.isLeft(decoded)) return E.left('invalid_config')
  const { prompt, hotwords, ...settings } = decoded.right
  return E.right({ settings: sentMembers(settings), vocabulary: sentMembers({ prompt, hotwords }) })
}

/** Returns the samples of 16-bit little-endian PCM. Copies the bytes if their address is odd. Left: what is wrong. */
export const decodePcm = (bytes: Uint8Array): Either<string, Int16Array> => {
  const { byteLength } = bytes
  if (byteLength % 2 !== 0) return E.left(`The audio has ${byteLength} bytes: 16-bit samples need an even number`)
  if (byteLength > MAX_AUDIO_BYTES)
    return E.left(`The audio has ${byteLength} bytes: a frame may have ${MAX_AUDIO_BYTES}, which is 10 seconds`)
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : Uint8Array.from(bytes)
  return E.right(new Int16Array(aligned.buffer, aligned.byteOffset, byteLength / 2))
}

/** Length of the longest audio in base64. */
export const MAX_BASE64_CHARS = Math.ceil(MAX_AUDIO_BYTES / 3) * 4

/**
 * Returns the bytes of an audio frame. Node's decoder accepts invalid characters and other alphabets, so the bytes are
 * encoded again and compared. That is ten times faster than a regular expression. Left: what is wrong.
 */
export const decodeBase64 = (body: object): Either<string, Uint8Array> => {
  const data = 'data' in body ? body.data : undefined
  if (typeof data !== 'string') return E.left('The frame has no text in `data`')
  if (data.length > MAX_BASE64_CHARS)
    return E.left(`\`data\` has ${data.length} characters: a frame may have ${MAX_BASE64_CHARS}, which is 10 seconds`)
  const bytes = Buffer.from(data, 'base64')
  return bytes.toString('base64') === data ? E.right(bytes) : E.left('`data` is not base64 with padding')
}
