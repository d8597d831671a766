import type { EndCause, FailureCode, FinishReason } from '../../domain/live/events.ts'
import type { SocketRole } from '../../application/ports/read-models.ts'
import { type ErrorCode, errorFrame, FINISHED, movedOnFrame } from './frames.ts'

/** The end of a connection: the last frame, the close code and the close reason. */
export interface Ending {
  readonly frame: string
  readonly close: number
  /** The code of the error. Empty after `finished`. */
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

export const errorEnding = (code: ClosingCode, detail?: string): Ending => ({
  frame: errorFrame(code, detail),
  close: CLOSE_CODES[code],
  reason: code,
})

/** Sockets that come back in a second. More would be a rush of handshakes at the other processes. */
const RETURNS_A_SECOND = 800

/**
 * Returns the endings of `count` sockets of a process that stops while another process serves. They come back at once,
 * spread over a second, or longer when there are many.
 */
export const movedOnEndings = (count: number): ReadonlyArray<Ending> => {
  const spread = Math.max(1, count / RETURNS_A_SECOND)
  return Array.from({ length: count }, (_, index) => ({
    ...errorEnding('server_restart'), frame: movedOnFrame(Math.round((100 * spread * index) / count) / 100),
  }))
}

const finished: Ending = { frame: FINISHED, close: 1000, reason: '' }

type Row = Readonly<Record<SocketRole, Ending | null>>

const both = (ending: Ending): Row => ({ sender: ending, listener: ending })

/** The endings by cause and role. Null when that socket is already closed. */
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

/** Returns the ending of a socket when its session ends. Null when that socket is already closed. */
export const endingFor = (cause: EndCause, role: SocketRole): Ending | null =>
  cause.status === 'finished' ? ENDS[cause.reason][role] : FAILURES[cause.code](cause.detail)[role]
