import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Answer, SenderSession } from '../../../application/running/socket-sessions.ts'
import { afterTimeout } from '../../../application/waiting.ts'
import { errorEnding } from '../ends.ts'
import { ASR_STARTED, errorFrame, PONG } from '../frames.ts'
import type { Incoming, IncomingOptions } from '../incoming.ts'
import { createAudioInput } from './audio-input.ts'
import { createIdleWatch } from './idle.ts'
import { createAudioLimit, createBadFrameCounter, createControlLimit, createErrorThrottle } from '../limits.ts'
import { type BadFrame, type ClientFrame, decodeConfig, parseFrame } from '../protocol.ts'

/** Above this backlog of audio the service stops reading the socket. */
const MAX_BACKLOG_SECONDS = 30
/** The session ends if the backlog does not shrink for this time. */
const STALLED_AFTER_MS = 60_000

export interface SenderOptions extends IncomingOptions {
  /** Milliseconds without a frame after the first audio, until the session ends. 0 switches the timeout off. */
  readonly idleTimeout: number
}

export const createSender = (session: SenderSession, options: SenderOptions): Incoming => {
  const { connection, timers, rateLimits } = options
  const { monotonic } = options.environment
  const hasTooManyBadFrames = createBadFrameCounter()
  const mayReport = createErrorThrottle(monotonic)
  const isControlLimitReached = createControlLimit(monotonic, rateLimits)
  const isAudioLimitReached = createAudioLimit(monotonic, rateLimits)
  const input = createAudioInput()
  let isOpen = true
  let isFinishing = false
  let cancelStall: () => void = () => undefined

  const stop = (): void => {
    isOpen = false
    cancelStall()
    idle.stop()
  }

  /** `detail`: a sentence for people. The default is the sentence of the code. */
  const disconnect = (code: BadFrame | 'audio_too_fast' | 'rate_limited' | 'session_idle', detail?: string): void => {
    stop()
    if (code === 'session_idle') session.closed('idle')
    else session.closed(code === 'audio_too_fast' || code === 'rate_limited' ? code : 'bad_frames')
    connection.end(errorEnding(code, detail))
  }

  const idle = createIdleWatch({
    limit: options.idleTimeout, monotonic, timers, isPaused: connection.isPaused,
    expired: () => disconnect('session_idle'),
  })

  const refuse = (code: BadFrame, detail?: string): void => {
    if (hasTooManyBadFrames(code)) disconnect(code, detail)
    else connection.send(errorFrame(code, detail))
  }

  const reject = (answer: Exclude<Answer, 'ok'>): void => {
    if (answer === 'invalid') return refuse('invalid_config')
    // After the end of a session, frames of the sender get no error.
    if (answer !== 'over' && mayReport(answer)) connection.send(errorFrame(answer))
  }

  const watchStall = (): void => {
    cancelStall()
    cancelStall = afterTimeout(timers, STALLED_AFTER_MS, () => disconnect('audio_too_fast'))
  }

  session.onDrained(() => {
    if (!isOpen || !connection.isPaused()) return
    if (session.backlogSeconds() >= MAX_BACKLOG_SECONDS) return watchStall()
    cancelStall()
    connection.resume()
  })

  const configure = (body: object): void => {
    const sent = decodeConfig(body)
    if (E.isLeft(sent)) return refuse(sent.left)
    const answer = session.configure(sent.right.settings, sent.right.vocabulary)
    if (answer === 'ok') connection.send(ASR_STARTED)
    else reject(answer)
  }

  const takeAudio = (audio: Either<string, Int16Array>): void => {
    if (isAudioLimitReached(E.isRight(audio) ? audio.right.length : 0)) return disconnect('rate_limited')
    if (E.isLeft(audio)) return refuse('invalid_audio', audio.left)
    if (audio.right.length === 0) return
    const answer = session.audio(audio.right)
    if (answer !== 'ok') return reject(answer)
    idle.begin()
    if (session.backlogSeconds() < MAX_BACKLOG_SECONDS || connection.isPaused()) return
    connection.pause()
    watchStall()
  }

  const finish = (): void => {
    if (isFinishing) return
    isFinishing = true
    cancelStall()
    idle.stop()
    session.finish()
  }

  const handle = ({ type, body }: ClientFrame): void => {
    switch (type) {
      case 'ping':
        return connection.send(PONG)
      case 'finish':
        return finish()
      case 'config':
        return isFinishing ? undefined : configure(body)
      case 'audio':
        return isFinishing ? undefined : takeAudio(input.base64(body))
    }
  }

  return {
    text: (text) => {
      if (!isOpen) return
      idle.onFrame()
      const frame = parseFrame(text)
      const isAudio = E.isRight(frame) && frame.right.type === 'audio'
      if (!isAudio && isControlLimitReached()) disconnect('rate_limited')
      else if (E.isRight(frame)) handle(frame.right)
      else if (!isFinishing) refuse(frame.left)
    },
    binary: (bytes) => {
      idle.onFrame()
      if (isOpen && !isFinishing) takeAudio(input.binary(bytes))
    },
    ping: () => {
      if (isOpen && isControlLimitReached()) disconnect('rate_limited')
    },
    closed: (isClean) => {
      stop()
      if (isClean) session.closed('sender_closed')
      else session.lost()
    },
  }
}
