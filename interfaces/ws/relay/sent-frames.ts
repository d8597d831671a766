import * as E from 'fp-ts/lib/Either.js'
import type { AudioPlace } from '../../../application/ports/peers/live-links.ts'
import { createUnheardAudio } from '../../../application/sessions/relay/unheard-audio.ts'
import type { SenderFrame, UnheardAudio } from '../../../application/sessions/relay/unheard-audio.ts'
import { ASR_STARTED } from '../frames.ts'
import { parseFrame } from '../protocol.ts'
import type { ClientFrame } from '../protocol.ts'
import { createConfigSoFar } from './sent-config.ts'
import type { PassedConfig } from './sent-config.ts'

/** What a sender sent, as far as another worker would have to hear it. */
export interface SentFrames extends Pick<UnheardAudio, 'covered' | 'letGo' | 'isFull' | 'from'> {
  /** A frame of the socket. While nobody takes it (`isTaken`) it is kept, unless it would be late afterwards. */
  readonly take: (frame: SenderFrame, isTaken: boolean) => void
  /** To a worker that has just given the place. */
  readonly repeat: () => void
  /** The worker is done with all frames up to there. */
  readonly done: (at: AudioPlace) => void
  /** It answers the last of them; false where that was answered before. */
  readonly answer: (frame: string) => boolean
  /** Nothing would be lost with the worker. */
  readonly isEmpty: () => boolean
}

const parsed = (frame: SenderFrame): ClientFrame | null => {
  if (frame.kind === 'binary') return { type: 'audio', body: {} }
  const found = parseFrame(frame.text)
  return E.isRight(found) ? found.right : null
}

export const createSentFrames = (pass: (frame: SenderFrame) => void, most?: number): SentFrames => {
  const unheard = createUnheardAudio(most)
  const config = createConfigSoFar()
  let hasAudio = false
  /** FINISH, which no audio covers. */
  let finish: SenderFrame | null = null
  /** The last frame that was sent again and may have been answered before. */
  let repeatedTo = 0
  /** The last frame that the worker is done with. */
  let doneTo = 0

  return {
    ...unheard,
    isEmpty: () => unheard.isEmpty() && finish === null,
    take: (frame, isTaken) => {
      const { type = null, body = {} } = parsed(frame) ?? {}
      const isKept = type === 'config' || (type === 'audio' && finish === null)
      if (type === 'audio') hasAudio = true
      if (type === 'finish') finish ??= frame
      if (!isTaken) {
        if (isKept) unheard.held(frame)
        return
      }
      // Within a process the answer comes while it is passed.
      const number = unheard.sent(frame, isKept)
      if (type === 'config') config.passed({ number, body, isBehindAudio: hasAudio })
      pass(frame)
    },
    repeat: () => {
      const text = config.text()
      const first: SenderFrame | null = text === null ? null : { kind: 'text', text }
      repeatedTo = first === null ? 0 : unheard.sent(first, false)
      const configs: Array<PassedConfig> = []
      const kept = unheard.again()
      for (const { frame, number } of kept) {
        const found = frame.kind === 'text' ? parsed(frame) : null
        if (found?.type === 'config') configs.push({ number, body: found.body, isBehindAudio: hasAudio })
        if (configs.length === 0) repeatedTo = number
      }
      config.repeated(configs)
      if (finish !== null) unheard.sent(finish, false)
      for (const frame of [first, ...kept.map((one) => one.frame), finish]) if (frame !== null) pass(frame)
    },
    done: (at) => {
      doneTo = at.frame
      for (const number of config.done(at.frame)) unheard.answered(number)
      unheard.heard(at)
    },
    answer: (frame) => {
      if (frame === ASR_STARTED) config.accepted(doneTo)
      // A config that had an answer is part of what was set, or refused for good.
      unheard.answered(doneTo)
      return doneTo > repeatedTo
    },
  }
}
