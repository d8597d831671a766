import type { FailureCode, FinishReason } from '../../domain/live/events.ts'
import type { ErrorCode } from './frames.ts'

/** Why a session ended, in words; a cause without them does not compile. */
export const END_TEXTS: Readonly<Record<FinishReason | FailureCode, string>> = {
  finish_message: 'The sender sent `FINISH`.',
  finish_route: 'The owner or an administrator finished the session over REST, in the console or on the command line.',
  source_ended: 'The stream behind the audio URL ended.',
  sender_closed: 'The sender closed its socket, or was lost for longer than RECONNECT_GRACE.',
  audio_too_fast: 'The sender sent audio faster than it could be transcribed, for more than a minute.',
  rate_limited: 'The sender sent too many frames.',
  bad_frames: 'The sender sent more than ten frames that are not valid.',
  restart: 'The service stopped or restarted while a sender was connected.',
  owner_disabled: 'The account of the owner was switched off.',
  deleted: 'The session, or the account of its owner, was deleted.',
  pending_timeout: 'No sender came within PENDING_TIMEOUT.',
  max_duration: 'The session reached MAX_DURATION.',
  idle: 'The sender sent nothing for IDLE_TIMEOUT.',
  engine_failed: 'The engine could not transcribe the audio; the log says why.',
  model_load_failed: 'The model does not load.',
  source_failed: 'The audio URL could not be opened, or broke off for good.',
}

/** What a client does about an error frame, or about the close that follows it. */
export const ERROR_ADVICE: Readonly<Record<ErrorCode, string>> = {
  invalid_message: 'Send a JSON object with one of the types above. The eleventh bad frame ends the connection.',
  invalid_config: 'Correct the value; the session settings page names the bounds.',
  invalid_audio: 'Send an even number of bytes, at most ten seconds a frame, base64 with padding.',
  config_required: 'Send `{"type":"config"}` first, and wait for `started`.',
  config_too_late: 'Create a new session for other settings; only `prompt` and `hotwords` may change later.',
  audio_not_expected: 'Send no audio to a session with an audio URL.',
  forbidden: 'Use the sender token to send. The fourth attempt of a listener ends its connection.',
  audio_too_fast: 'Send audio as fast as it is spoken.',
  rate_limited: 'Send frames of about 100 ms, and at most 20 other frames a second.',
  sender_already_connected: 'Stop the other sender, or create a session of your own.',
  session_finished: 'Create a new session. The text can be read for a minute, or longer where it is kept.',
  session_idle: 'Create a new session. Send silence while nobody speaks, or raise IDLE_TIMEOUT.',
  token_revoked: 'Ask the owner of the session for a new link.',
  slow_consumer: 'Read faster. Connect again with `after`.',
  server_restart: 'Wait 5 to 30 seconds, at random. Listeners connect again with `after`, senders create a new session.',
  engine_failed: 'Create a new session. Ask the operator to look at the log.',
  model_load_failed: 'Ask the operator to run `stenolog models verify`.',
  source_failed: 'Try the URL with `stenolog doctor --source URL`.',
}
