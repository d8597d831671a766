import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { InvalidState, SenderSession } from '../../../application/sessions/sender-session.ts'
import { afterLastLook } from '../../../application/waiting.ts'
import { errorEnding } from '../ends.ts'
import { ASR_STARTED, errorFrame, PONG } from '../frames.ts'
import type { Incoming, IncomingOptions } from '../incoming.ts'
import { createIdleWatch } from './idle.ts'
import { createAudioLimit, createBadFrameCounter, createControlLimit, createErrorThrottle } from '../limits.ts'
import { decodeAudio, decodeConfig, decodePcm, parseFrame } from '../protocol.ts'
import type { BadFrame, ClientFrame } from '../protocol.ts'

/** D41: seconds of audio held before we stop reading, and how long nothing may move then. */
const FULL_BACKLOG = 30
const STALLED_AFTER = 60_000

export interface SenderOptions extends IncomingOptions {
  /** Milliseconds without any frame, once there was audio, after which the live ends; 0 is never (D46). */
  readonly idleTimeout: number
}

/** The sender's protocol: R137–R149, D39–D42. */
export const createSender = (session: SenderSession, options: SenderOptions): Incoming => {
  const { connection, timers, rateLimits } = options
  const { monotonic } = options.environment
  const isOneTooMany = createBadFrameCounter()
  const mayTell = createErrorThrottle(monotonic)
  const tooManyControls = createControlLimit(monotonic, rateLimits)
  const tooManyFrames = createAudioLimit(monotonic, rateLimits)
  let open = true
  let finishing = false
  let cancelStall: () => void = () => undefined

  const stop = (): void => {
    open = false
    cancelStall()
    idle.stop()
  }

  const expel = (code: BadFrame | 'audio_too_fast' | 'rate_limited' | 'session_idle'): void => {
    stop()
    if (code === 'session_idle') session.closed('idle')
    else session.closed(code === 'audio_too_fast' || code === 'rate_limited' ? code : 'bad_frames')
    connection.end(errorEnding(code))
  }

  const idle = createIdleWatch({
    limit: options.idleTimeout, monotonic, timers, isPaused: connection.isPaused, expired: () => expel('session_idle'),
  })

  const refuse = (code: BadFrame): void => {
    if (isOneTooMany(code)) expel(code)
    else connection.send(errorFrame(code))
  }

  const tell = (state: InvalidState): void => {
    // After the end nothing is owed but the tail.
    if (state !== 'over' && mayTell(state)) connection.send(errorFrame(state))
  }

  const watchStall = (): void => {
    cancelStall()
    cancelStall = afterLastLook(timers, STALLED_AFTER, () => expel('audio_too_fast'))
  }

  session.onDrained(() => {
    if (!open || !connection.isPaused()) return
    if (session.backlogSeconds() >= FULL_BACKLOG) return watchStall()
    cancelStall()
    connection.resume()
  })

  const configure = (body: object): void => {
    const sent = decodeConfig(body)
    if (E.isLeft(sent)) return refuse(sent.left)
    const outcome = session.configure(sent.right.settings, sent.right.vocabulary)
    if (outcome === 'ok') connection.send(ASR_STARTED)
    else if (outcome === 'invalid') refuse('invalid_config')
    else tell(outcome)
  }

  const hear = (audio: Either<'invalid_audio', Int16Array>): void => {
    if (tooManyFrames(E.isRight(audio) ? audio.right.length : 0)) return expel('rate_limited')
    if (E.isLeft(audio)) return refuse(audio.left)
    if (audio.right.length === 0) return
    const outcome = session.audio(audio.right)
    if (outcome !== 'ok') return tell(outcome)
    idle.begin()
    if (session.backlogSeconds() < FULL_BACKLOG || connection.isPaused()) return
    connection.pause()
    watchStall()
  }

  const finish = (): void => {
    if (finishing) return
    finishing = true
    cancelStall()
    idle.stop()
    session.finish()
  }

  const obey = ({ type, body }: ClientFrame): void => {
    switch (type) {
      case 'ping':
        return connection.send(PONG)
      case 'finish':
        return finish()
      case 'config':
        return finishing ? undefined : configure(body)
      case 'audio':
        return finishing ? undefined : hear(decodeAudio(body))
    }
  }

  return {
    text: (text) => {
      if (!open) return
      idle.heard()
      const frame = parseFrame(text)
      const isAudio = E.isRight(frame) && frame.right.type === 'audio'
      if (!isAudio && tooManyControls()) expel('rate_limited')
      else if (E.isRight(frame)) obey(frame.right)
      else if (!finishing) refuse(frame.left)
    },
    binary: (bytes) => {
      idle.heard()
      if (open && !finishing) hear(decodePcm(bytes))
    },
    ping: () => {
      if (open && tooManyControls()) expel('rate_limited')
    },
    closed: (clean) => {
      stop()
      if (clean) session.closed('sender_closed')
      else session.lost()
    },
  }
}
