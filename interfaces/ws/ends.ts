import type { FailureCode, FinishReason } from '../../domain/live/events.ts'
import type { SocketRole } from '../../application/ports/read-models.ts'
import type { EndCause } from '../../application/pipeline/signals.ts'
import { errorFrame, FINISHED } from './frames.ts'
import type { ErrorCode } from './frames.ts'

/** Last words to a socket: a frame, then the close code and its reason (the error's code, empty after `finished`). */
export interface Ending {
  readonly frame: string
  readonly close: number
  readonly reason: string
}

type ClosingCode = Exclude<ErrorCode, 'config_required' | 'config_too_late' | 'audio_not_expected'>

const CLOSE_CODES: Readonly<Record<ClosingCode, number>> = {
  invalid_message: 1008,
  invalid_config: 1008,
  invalid_audio: 1008,
  audio_too_fast: 1008,
  rate_limited: 1008,
  forbidden: 4403,
  sender_already_connected: 4409,
  session_finished: 4410,
  session_idle: 4408,
  token_revoked: 4401,
  slow_consumer: 1013,
  server_restart: 1012,
  engine_failed: 1011,
  model_load_failed: 1011,
  source_failed: 1011,
}

/** The ending of an error that closes (A4). */
export const errorEnding = (code: ClosingCode, detail?: string): Ending => ({
  frame: errorFrame(code, detail),
  close: CLOSE_CODES[code],
  reason: code,
})

const finished: Ending = { frame: FINISHED, close: 1000, reason: '' }

type Row = Readonly<Record<SocketRole, Ending | null>>

const both = (ending: Ending): Row => ({ sender: ending, listener: ending })

/** A4's table of ends, one row a cause; null where that socket is gone already. */
const ENDS: Readonly<Record<FinishReason, Row>> = {
  finish_message: both(finished),
  finish_route: both(finished),
  source_ended: both(finished),
  sender_closed: { sender: null, listener: finished },
  audio_too_fast: { sender: errorEnding('audio_too_fast'), listener: finished },
  rate_limited: { sender: errorEnding('rate_limited'), listener: finished },
  bad_frames: { sender: errorEnding('invalid_message'), listener: finished },
  restart: both(errorEnding('server_restart')),
  owner_disabled: both(errorEnding('token_revoked')),
  deleted: both(errorEnding('token_revoked')),
  pending_timeout: both(finished),
  max_duration: both(finished),
  idle: { sender: errorEnding('session_idle'), listener: finished },
}

const FAILURES: Readonly<Record<FailureCode, (detail: string) => Row>> = {
  engine_failed: (detail) => both(errorEnding('engine_failed', detail)),
  model_load_failed: (detail) => both(errorEnding('model_load_failed', detail)),
  source_failed: (detail) => both(errorEnding('source_failed', detail)),
}

/** What a socket of `role` gets when the live ended for `cause`. */
export const endingFor = (cause: EndCause, role: SocketRole): Ending | null =>
  cause.status === 'finished' ? ENDS[cause.reason][role] : FAILURES[cause.code](cause.detail)[role]
