import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { decodeBase64, decodePcm, MAX_AUDIO_BYTES } from '../protocol.ts'
import { foreignFormat, isWave, readWaveHeader, WANTED } from './containers.ts'

/**
 * Reads the audio frames of one sender. The header of a WAVE file is skipped if its samples are the wanted ones. Every
 * other format is refused by its name, with all frames after it. Left: a sentence that says what is wrong.
 */
export interface AudioInput {
  readonly binary: (bytes: Uint8Array) => Either<string, Int16Array>
  /** The body of an `audio` frame. */
  readonly base64: (body: object) => Either<string, Int16Array>
}

const NO_SAMPLES = E.right(new Int16Array())

export const createAudioInput = (): AudioInput => {
  let hasBegun = false
  /** The beginning of a WAVE file whose samples have not begun. */
  let header: Uint8Array | null = null
  let refusal: Either<string, never> | null = null

  const refuse = (name: string): Either<string, never> => {
    header = null
    refusal = E.left(`This is ${name}: send ${WANTED} without a container`)
    return refusal
  }

  const skipHeader = (bytes: Uint8Array): Either<string, Int16Array> => {
    const read = readWaveHeader(bytes)
    if (read.kind === 'foreign') return refuse(read.name)
    if (read.kind === 'whole') {
      header = null
      return decodePcm(bytes.subarray(read.samplesAt))
    }
    if (bytes.byteLength > MAX_AUDIO_BYTES) return refuse('WAVE whose samples begin too late')
    header = bytes
    return NO_SAMPLES
  }

  const take = (bytes: Uint8Array): Either<string, Int16Array> => {
    if (refusal !== null) return refusal
    if (header !== null) return skipHeader(Buffer.concat([header, bytes]))
    // Samples look like a WAVE header never, but like a shorter mark of another format once in some weeks.
    const name = hasBegun ? null : foreignFormat(bytes)
    hasBegun ||= bytes.byteLength > 0
    if (name !== null) return refuse(name)
    return isWave(bytes) ? skipHeader(bytes) : decodePcm(bytes)
  }

  return {
    binary: take,
    base64: (body) => E.chain(take)(decodeBase64(body)),
  }
}
