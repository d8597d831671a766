import * as E from 'fp-ts/lib/Either.js'
import type { AudioPlace } from '../../../application/ports/live-links.ts'
import {
  createUnsettledAudio, type SenderFrame, type UnsettledAudio,
} from '../../../application/running/relay/unsettled-audio.ts'
import { ASR_STARTED } from '../frames.ts'
import { type ClientFrame, parseFrame } from '../protocol.ts'
import { createAcceptedConfig, type PassedConfig } from './sent-config.ts'

/** The frames of a sender that another worker would need, because their text is not stored. */
export interface SentFrames extends Pick<UnsettledAudio, 'covered' | 'dropOldest' | 'isFull' | 'from'> {
  /** Passes a frame to the worker. Without a worker (`hasWorker` false) keeps config and audio for the next worker. */
  readonly take: (frame: SenderFrame, hasWorker: boolean) => void
  /** Sends the kept frames to a worker that has just admitted the sender. */
  readonly repeat: () => void
  /** The worker has handled all frames up to this place. */
  readonly done: (at: AudioPlace) => void
  /** The worker answers the last handled frame. False when an earlier worker has answered it. */
  readonly answer: (frame: string) => boolean
  /** True when the loss of the worker would lose no frame. */
  readonly isEmpty: () => boolean
}

const parsed = (frame: SenderFrame): ClientFrame | null => {
  if (frame.kind === 'binary') return { type: 'audio', body: {} }
  const found = parseFrame(frame.text)
  return E.isRight(found) ? found.right : null
}

/** `pass` sends a frame to the worker. `maxBytes` limits the kept frames. */
export const createSentFrames = (pass: (frame: SenderFrame) => void, maxBytes?: number): SentFrames => {
  /** Frames whose text is not stored yet. */
  const unsettled = createUnsettledAudio(maxBytes)
  const config = createAcceptedConfig()
  let hasAudio = false
  /** The FINISH frame. It has no audio, so stored text cannot show whether a worker handled it. */
  let finish: SenderFrame | null = null
  /** Number of the last repeated frame that an earlier worker may have answered. */
  let repeatedTo = 0
  /** Number of the last frame that the worker has handled. */
  let doneTo = 0

  return {
    ...unsettled,
    isEmpty: () => unsettled.isEmpty() && finish === null,
    take: (frame, hasWorker) => {
      const { type = null, body = {} } = parsed(frame) ?? {}
      const isKept = type === 'config' || (type === 'audio' && finish === null)
      if (type === 'audio') hasAudio = true
      if (type === 'finish') finish ??= frame
      if (!hasWorker) {
        if (isKept) unsettled.held(frame)
        return
      }
      // Recorded before `pass`, because a worker in the same process answers during `pass`.
      const number = unsettled.sent(frame, isKept)
      if (type === 'config') config.passed({ number, body, isAfterAudio: hasAudio })
      pass(frame)
    },
    repeat: () => {
      const text = config.text()
      const configFrame: SenderFrame | null = text === null ? null : { kind: 'text', text }
      repeatedTo = configFrame === null ? 0 : unsettled.sent(configFrame, false)
      const configs: Array<PassedConfig> = []
      const kept = unsettled.resend()
      for (const { frame, number } of kept) {
        const found = frame.kind === 'text' ? parsed(frame) : null
        if (found?.type === 'config') configs.push({ number, body: found.body, isAfterAudio: hasAudio })
        if (configs.length === 0) repeatedTo = number
      }
      config.repeated(configs)
      if (finish !== null) unsettled.sent(finish, false)
      for (const frame of [configFrame, ...kept.map((entry) => entry.frame), finish]) if (frame !== null) pass(frame)
    },
    done: (at) => {
      doneTo = at.frame
      for (const number of config.done(at.frame)) unsettled.answered(number)
      unsettled.received(at)
    },
    answer: (frame) => {
      if (frame === ASR_STARTED) config.accepted(doneTo)
      // An answered config is either part of the accepted config, or refused. It must not be repeated.
      unsettled.answered(doneTo)
      return doneTo > repeatedTo
    },
  }
}
