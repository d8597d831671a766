import * as t from 'io-ts'
import { failureCode } from '../../domain/live/events.ts'
import { boundedInteger, boundedNumber, boundedString, id, object } from '../../domain/shared/codecs.ts'
import { segmentWord } from '../../domain/transcript/events.ts'
import { settingFields } from '../http/codecs/settings-codec.ts'
import { members } from '../http/codecs/validation.ts'
import { ERROR_CODES } from './frames.ts'
import { LONGEST_BASE64 } from './protocol.ts'

/** The frames of a live's WebSocket as codecs, for its description and for what checks that against real frames. */

const keysOf = (keys: ReadonlyArray<string>) => t.keyof(Object.fromEntries(keys.map((key) => [key, null])))

const seconds = boundedNumber(0, Number.MAX_SAFE_INTEGER)

/** Left out with COMPAT_STRICT. */
const further = { segment: boundedInteger(1, Number.MAX_SAFE_INTEGER), final: t.boolean }

const textOf = (type: 'transcription' | 'translation') =>
  ({ type: t.literal(type), start: seconds, end: seconds, text: t.string, language: t.string })

interface Message {
  readonly codec: t.Mixed
  readonly summary: string
}

/** What a client sends, each as a text frame. */
export const CLIENT_MESSAGES = {
  config: {
    codec: members({ type: t.literal('config'), ...settingFields }),
    summary:
      'Session settings, before the first audio; members that are left out keep the value of the session. ' +
      'A frame with only prompt and hotwords may come at any time',
  },
  audio: {
    codec: object({ type: t.literal('audio'), data: boundedString(0, LONGEST_BASE64, /^[A-Za-z0-9+/]*={0,2}$/) }),
    summary: '16-bit little-endian mono PCM at 16 kHz, at most ten seconds, in padded base64',
  },
  finish: { codec: object({ type: keysOf(['FINISH', '__FINISH__']) }), summary: 'No more audio: the service transcribes the rest, then finishes the session' },
  ping: { codec: object({ type: t.literal('ping') }), summary: 'Asks for a pong' },
} as const satisfies Readonly<Record<string, Message>>

/** What the service sends, each as a text frame. */
export const SERVICE_MESSAGES = {
  connection: {
    codec: t.strict({
      type: t.literal('connection'),
      status: t.literal('connected'),
      role: keysOf(['sender', 'listener']),
      session_id: id,
      state: keysOf(['pending', 'active', 'finished', 'error']),
    }),
    summary: 'The first frame of every connection',
  },
  asrStarted: { codec: t.strict({ status: t.literal('ASR process started') }), summary: 'The config was accepted; only the sender gets it' },
  started: { codec: t.strict({ status: t.literal('started') }), summary: 'The model is ready' },
  transcription: {
    codec: object(
      textOf('transcription'),
      { ...further, words: t.readonlyArray(segmentWord) },
      'TranscriptionFrame',
    ),
    summary:
      'Text; replaces what came before for the same segment. A final of a session with `words` tells its words; ' +
      'of one with the language `auto` the language is what was heard, `und` where that is not known',
  },
  translation: { codec: object(textOf('translation'), further, 'TranslationFrame'), summary: 'A final text in another language' },
  finished: { codec: t.strict({ status: t.literal('finished') }), summary: 'The session is over; the connection closes with 1000' },
  error: {
    codec: t.strict({ type: t.literal('error'), code: keysOf(ERROR_CODES), detail: t.string }),
    summary: `What is wrong; ${Object.keys(failureCode.keys).join(', ')} end the session, and the connection closes with 1011`,
  },
  pong: { codec: t.strict({ type: t.literal('pong') }), summary: 'Answer to a ping' },
} as const satisfies Readonly<Record<string, Message>>
