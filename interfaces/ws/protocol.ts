import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import { parseJson } from '../../domain/shared/parse-json.ts'
import { sentMembers, settingsBody } from '../http/codecs/settings-codec.ts'

/** D41: 10 s of s16le at 16 kHz. */
export const MAX_AUDIO_BYTES = 10 * SAMPLE_RATE * 2

export type BadFrame = 'invalid_message' | 'invalid_config' | 'invalid_audio'

/** A text frame that is an object with a type of the protocol; its members are not yet checked. */
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

/** R147: invalid JSON, anything but an object, a missing or unknown `type`. */
export const parseFrame = (text: string): Either<'invalid_message', ClientFrame> => {
  const body = parseJson(text)
  if (typeof body !== 'object' || body === null || !('type' in body)) return E.left('invalid_message')
  const type = TYPES.get(body.type)
  return type === undefined ? E.left('invalid_message') : E.right({ type, body })
}

/** What was sent in a config frame. */
export interface SentConfig {
  readonly settings: Partial<EngineSettings>
  readonly vocabulary: GivenVocabulary
}

/** The members of a config frame; `null` is as good as left out, as over REST. Unknown ones are ignored. */
export const decodeConfig = (body: object): Either<'invalid_config', SentConfig> => {
  const decoded = settingsBody.decode(body)
  if (E.isLeft(decoded)) return E.left('invalid_config')
  const { prompt, hotwords, ...settings } = decoded.right
  return E.right({ settings: sentMembers(settings), vocabulary: sentMembers({ prompt, hotwords }) })
}

/** Samples of s16le bytes; copies where the bytes do not lie on an even address. */
export const decodePcm = (bytes: Uint8Array): Either<'invalid_audio', Int16Array> => {
  if (bytes.byteLength % 2 !== 0 || bytes.byteLength > MAX_AUDIO_BYTES) return E.left('invalid_audio')
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : Uint8Array.from(bytes)
  return E.right(new Int16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 2))
}

/** Characters of the longest audio in base64. */
export const LONGEST_BASE64 = Math.ceil(MAX_AUDIO_BYTES / 3) * 4

/**
 * The samples of an audio frame; an empty string is no samples. RFC 4648 base64 and nothing else: Node's decoder skips
 * what it does not know and other alphabets pass, so the bytes must give the very text again (a tenth of what a pattern costs).
 */
export const decodeAudio = (body: object): Either<'invalid_audio', Int16Array> => {
  const data = 'data' in body ? body.data : undefined
  if (typeof data !== 'string' || data.length > LONGEST_BASE64) return E.left('invalid_audio')
  const bytes = Buffer.from(data, 'base64')
  return bytes.toString('base64') === data ? decodePcm(bytes) : E.left('invalid_audio')
}
