import type { Continuity, PullEnd, SourceTarget } from '../../../application/ports/audio-source.ts'
import { readTimedPcm, type TimedPcm, timedPcmOf } from '../decoder/timed-pcm.ts'
import type { AddressRules } from '../network/address-guard.ts'

/** A command for a puller: a line of JSON on its stdin, because argv and the environment would expose the URL. */
export interface PullCommand extends SourceTarget {
  readonly rules: AddressRules
  /** Decoders run only without access to files and sockets. */
  readonly isolate: boolean
}

/** Messages of a puller, in order with its audio. */
export type PullerMessage =
  /** The decoder is ready, or the source explains why there is no audio yet. */
  | { readonly kind: 'began' }
  /** The following audio belongs to a new stretch (a continuous part of the source, with its own decoder). */
  | { readonly kind: 'stretch'; readonly continuity: Continuity }
  /** All audio up to the end of this HLS segment has been sent. */
  | { readonly kind: 'delivered'; readonly mediaSequence: number }
  /** The target duration of the HLS playlist. */
  | { readonly kind: 'target'; readonly seconds: number }
  /** Some audio could not be decoded and is left out. `seconds`: its time after the beginning of the stretch. */
  | { readonly kind: 'damaged'; readonly seconds: number }
  | { readonly kind: 'ended'; readonly end: PullEnd }

// Frames on the puller's stdout: one byte of kind, four bytes of length, the payload. One channel keeps the order.
const AUDIO = 0
const MESSAGE = 1
const HEAD_BYTES = 5
const MAX_FRAME_BYTES = 1 << 20

const frameOf = (kind: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(HEAD_BYTES)
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

/** Creates a parser for the output of a puller, in chunks of any size. It throws an Error on invalid output. */
export const createFrameReader = ({ audio, message }: FrameHandlers): ((bytes: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32LE(1)
      if (length > MAX_FRAME_BYTES) throw new Error(`the puller sent a frame of ${length} bytes, which is too long`)
      const end = HEAD_BYTES + length
      if (rest.length < end) return
      const kind = rest.readUInt8(0)
      const payload = rest.subarray(HEAD_BYTES, end)
      rest = rest.subarray(end)
      if (kind === AUDIO) audio(readTimedPcm(payload))
      else message(JSON.parse(payload.toString('utf8')) as PullerMessage)
    }
  }
}
