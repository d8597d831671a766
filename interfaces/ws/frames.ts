import type { TranscriptFrame } from '../../domain/transcript/frame.ts'
import type { FailureCode } from '../../domain/live/events.ts'
import type { LiveStatus, SocketRole } from '../../application/ports/read-models.ts'
import type { BadFrame } from './protocol.ts'

/** The codes of error frames, with the default text of each. */
const DETAILS = {
  invalid_message: 'The message is not a JSON object with a known type',
  invalid_config: 'The config has a value that is invalid or out of bounds',
  invalid_audio: 'The audio is not 16-bit PCM at 16 kHz',
  config_required: 'Send a config message before audio',
  config_too_late: 'The config cannot change after the first audio',
  audio_not_expected: 'This session takes its audio from a URL',
  forbidden: 'A listener may only send ping frames',
  audio_too_fast: 'Audio arrives faster than it can be transcribed',
  rate_limited: 'Too many messages',
  sender_already_connected: 'Another sender is connected to this session',
  session_finished: 'The session has ended',
  session_idle: 'The session has received nothing for too long',
  token_revoked: 'The token is no longer valid',
  slow_consumer: 'The client does not read its messages fast enough',
  server_restart: 'The server restarts: connect again in 5 to 30 seconds',
  engine_failed: 'The transcription engine failed',
  model_load_failed: 'The model could not be loaded',
  source_failed: 'The audio source failed',
} satisfies Readonly<Record<string, string>> & Readonly<Record<BadFrame | FailureCode, string>>
export type ErrorCode = keyof typeof DETAILS

export const ERROR_CODES: ReadonlyArray<string> = Object.keys(DETAILS)

/** The status frames. The interface fixes every byte. */
export const ASR_STARTED = '{"status":"ASR process started"}'
export const STARTED = '{"status":"started"}'
export const FINISHED = '{"status":"finished"}'
export const PONG = '{"type":"pong"}'

export const connectionFrame = (role: SocketRole, liveId: number, state: LiveStatus): string =>
  JSON.stringify({ type: 'connection', status: 'connected', role, session_id: liveId, state })

/** Returns an error frame. `detail` is a sentence for people, by default the sentence of the code. */
export const errorFrame = (code: ErrorCode, detail: string = DETAILS[code]): string =>
  JSON.stringify({ type: 'error', code, detail })

/** Returns the error frame of a process that stops while another one serves. `seconds`: when to connect again. */
export const movedOnFrame = (seconds: number): string =>
  JSON.stringify({
    type: 'error', code: 'server_restart', detail: `The server stops: connect again in ${seconds} seconds`,
    retry_after: seconds,
  })

const roundToMs = (seconds: number): number => Math.round(seconds * 1000) / 1000

/** Returns a text frame. If `strict` (COMPAT_STRICT), it has only the five members of the interface 0.6.2. */
export const transcriptFrame = (
  { kind, start, end, text, language, segment, final, words }: TranscriptFrame,
  strict: boolean,
): string => {
  const members = { type: kind, start: roundToMs(start), end: roundToMs(end), text, language }
  return JSON.stringify(strict ? members : { ...members, segment, final, words })
}
