import type { Continuity, PullEnd, SourceTarget } from '../../../application/ports/audio-source.ts'
import { readTimedPcm, timedPcmOf } from '../decoder/timed-pcm.ts'
import type { TimedPcm } from '../decoder/timed-pcm.ts'
import type { AddressRules } from '../network/address-guard.ts'

/** One line of JSON on the puller's stdin, where neither argv nor the environment shows the URL (S6). */
export interface PullCommand extends SourceTarget {
  readonly rules: AddressRules
  /** The decoder can open neither file nor socket, or does not run. */
  readonly isolate: boolean
}

/** What a puller tells beside audio, in the order in which it happens. */
export type PullerMessage =
  | { readonly kind: 'began' }
  | { readonly kind: 'stretch'; readonly continuity: Continuity }
  | { readonly kind: 'heard'; readonly mediaSequence: number }
  | { readonly kind: 'target'; readonly seconds: number }
  | { readonly kind: 'ended'; readonly end: PullEnd }

/** Frames on the puller's stdout: one byte of kind, four of length, the payload. One channel keeps audio and messages in order. */
const AUDIO = 0
const MESSAGE = 1
const HEAD = 5
const MAX_FRAME = 1 << 20

const frameOf = (kind: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(HEAD)
  head.writeUInt8(kind, 0)
  head.writeUInt32LE(payload.length, 1)
  return Buffer.concat([head, payload])
}

export const audioFrame = (audio: TimedPcm): Buffer => frameOf(AUDIO, timedPcmOf(audio))
export const messageFrame = (message: PullerMessage): Buffer => frameOf(MESSAGE, Buffer.from(JSON.stringify(message)))

export const isAudio = (frame: Buffer): boolean => frame[0] === AUDIO

interface FrameHandlers {
  readonly audio: (audio: TimedPcm) => void
  readonly message: (message: PullerMessage) => void
}

/** Takes the stream apart, in pieces of any size; throws an Error for what no puller writes. */
export const createFrameReader = ({ audio, message }: FrameHandlers): ((bytes: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    while (rest.length >= HEAD) {
      const length = rest.readUInt32LE(1)
      if (length > MAX_FRAME) throw new Error('a frame of a puller is too long')
      if (rest.length < HEAD + length) return
      const kind = rest.readUInt8(0)
      const payload = rest.subarray(HEAD, HEAD + length)
      rest = rest.subarray(HEAD + length)
      if (kind === AUDIO) audio(readTimedPcm(payload))
      else message(JSON.parse(payload.toString('utf8')) as PullerMessage)
    }
  }
}
