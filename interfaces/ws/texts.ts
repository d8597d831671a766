import type { FailureCode, FinishReason } from '../../domain/live/events.ts'
import type { ErrorCode } from './frames.ts'

/** Descriptions of how a session ended. A cause without a description does not compile. */
export const END_TEXTS: Readonly<Record<FinishReason | FailureCode, string>> = {
  finish_message: 'The sender sent `FINISH`.',
  finish_route: 'The owner or an administrator finished the session over REST, in the console or on the command line.',
  source_ended: 'The stream at the audio URL ended.',
  sender_closed: 'The sender closed its connection, or did not reconnect within RECONNECT_GRACE.',
  audio_too_fast: 'The sender sent audio faster than it could be transcribed, for more than a minute.',
  rate_limited: 'The sender sent too many frames.',
  bad_frames: 'The sender sent more than ten invalid frames.',
  restart: 'The service stopped or restarted while a sender was connected.',
  owner_disabled: 'The account of the owner was switched off.',
  deleted: 'The session, or the account of its owner, was deleted.',
  pending_timeout: 'No sender connected within PENDING_TIMEOUT.',
  max_duration: 'The session reached MAX_DURATION.',
  idle: 'The sender sent nothing for IDLE_TIMEOUT.',
  engine_failed: 'The engine could not transcribe the audio. The log contains the reason.',
  model_load_failed: 'The model could not be loaded.',
  source_failed: 'The audio URL could not be opened, or its stream broke off and all retries failed.',
}

/** The next step for a client after an error frame. */
export const ERROR_ADVICE: Readonly<Record<ErrorCode, string>> = {
  invalid_message: 'Send a JSON object with one of the types above. The eleventh invalid frame ends the connection.',
  invalid_config: 'Correct the value. The page about session settings lists the bounds.',
  invalid_audio: 'The text names what came. Send an even number of bytes and at most ten seconds of audio in a frame, '
    + 'and pad the base64. A container such as WebM, Ogg, MP3 or MP4 is refused with each frame; only the header of a '
    + 'WAVE file with the wanted samples is skipped.',
  config_required: 'Send `{"type":"config"}` first, and wait for `started`.',
  config_too_late: 'Create a new session for other settings. Only `prompt` and `hotwords` may change later.',
  audio_not_expected: 'Send no audio to a session with an audio URL.',
  forbidden: 'Use the sender token to send. The fourth attempt ends the connection.',
  audio_too_fast: 'Send audio in real time.',
  rate_limited: 'Send frames of about 100 ms, and at most 20 other frames a second. In answer to a changed vocabulary: '
    + 'the owner has used up DAILY_BUDGET, and the connection stays open.',
  sender_already_connected: 'Stop the other sender, or create another session.',
  session_finished: 'Create a new session. The text can be read for a minute, or longer with `live_retention`.',
  session_idle: 'Create a new session. Send silence while nobody speaks, or raise IDLE_TIMEOUT.',
  token_revoked: 'Ask the owner of the session for a new link.',
  slow_consumer: 'Read faster. Connect again with `after`.',
  server_restart: 'With `retry_after`, wait for this number of seconds and connect again: listeners with `after`, '
    + 'senders with the same token. Otherwise wait a random time of 5 to 30 seconds. Listeners then connect again with '
    + '`after`; senders create a new session.',
  engine_failed: 'Create a new session. Ask the operator to check the log.',
  model_load_failed: 'Ask the operator to run `stenolog models verify`.',
  source_failed: 'Try the URL with `stenolog doctor --source URL`.',
}
