import * as t from 'io-ts'
import { failureCode } from '../../domain/live/events.ts'
import { boundedInteger, boundedNumber, boundedString, id, object } from '../../domain/shared/codecs.ts'
import { segmentWord } from '../../domain/transcript/events.ts'
import { settingFields } from '../http/codecs/settings-codec.ts'
import { members } from '../http/codecs/validation.ts'
import { ERROR_CODES } from './frames.ts'
import { MAX_BASE64_CHARS } from './protocol.ts'

/** The frames of the WebSocket as codecs, for AsyncAPI, the reference and the tests. */

const keysOf = (keys: ReadonlyArray<string>) => t.keyof(Object.fromEntries(keys.map((key) => [key, null])))

const seconds = boundedNumber(0, Number.MAX_SAFE_INTEGER)

/** With COMPAT_STRICT the service does not send these members. */
const omittedByCompatStrict = { segment: boundedInteger(1, Number.MAX_SAFE_INTEGER), final: t.boolean }

const textOf = (type: 'transcription' | 'translation') =>
  ({ type: t.literal(type), start: seconds, end: seconds, text: t.string, language: t.string })

interface Message {
  readonly codec: t.Mixed
  readonly summary: string
}

/** Text frames that clients send. */
export const CLIENT_MESSAGES = {
  config: {
    codec: members({ type: t.literal('config'), ...settingFields }),
    summary:
      'Session settings. Send this frame before the first audio. Settings that you leave out keep their values. ' +
      'You may send a frame with only `prompt` and `hotwords` at any time.',
  },
  audio: {
    codec: object({ type: t.literal('audio'), data: boundedString(0, MAX_BASE64_CHARS, /^[A-Za-z0-9+/]*={0,2}$/) }),
    summary: 'Audio: 16-bit little-endian mono PCM at 16 kHz, at most ten seconds, in padded base64.',
  },
  finish: {
    codec: object({ type: keysOf(['FINISH', '__FINISH__']) }),
    summary: 'End of the audio. The service transcribes the remaining audio and then finishes the session.',
  },
  ping: { codec: object({ type: t.literal('ping') }), summary: 'Request a `pong`.' },
} as const satisfies Readonly<Record<string, Message>>

/** Text frames that the service sends. */
export const SERVICE_MESSAGES = {
  connection: {
    codec: t.strict({
      type: t.literal('connection'),
      status: t.literal('connected'),
      role: keysOf(['sender', 'listener']),
      session_id: id,
      state: keysOf(['pending', 'active', 'finished', 'error']),
    }),
    summary: 'The first frame of every connection.',
  },
  asrStarted: {
    codec: t.strict({ status: t.literal('ASR process started') }),
    summary: 'The config was accepted. Only the sender gets this frame.',
  },
  started: { codec: t.strict({ status: t.literal('started') }), summary: 'The model is ready.' },
  transcription: {
    codec: object(
      textOf('transcription'),
      { ...omittedByCompatStrict, words: t.readonlyArray(segmentWord) },
      'TranscriptionFrame',
    ),
    summary:
      'The text of a segment. It replaces the earlier text of the same segment. With the setting `words`, final text ' +
      'has `words`. With the language `auto`, `language` is the detected language, or `und` if it is unknown.',
  },
  translation: {
    codec: object(textOf('translation'), omittedByCompatStrict, 'TranslationFrame'),
    summary: 'The translation of final text into another language.',
  },
  finished: {
    codec: t.strict({ status: t.literal('finished') }),
    summary: 'The session has ended. The connection then closes with 1000.',
  },
  error: {
    codec: object(
      { type: t.literal('error'), code: keysOf(ERROR_CODES), detail: t.string }, { retry_after: seconds }, 'ErrorFrame',
    ),
    summary:
      `An error. The codes ${Object.keys(failureCode.keys).join(', ')} end the session and close the connection `
        + 'with 1011. With `retry_after`, another process serves already: connect again after this number of seconds.',
  },
  pong: { codec: t.strict({ type: t.literal('pong') }), summary: 'The response to a `ping`.' },
} as const satisfies Readonly<Record<string, Message>>
