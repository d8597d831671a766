import type { RtpPacket } from './rtp-packets.ts'
import { SourceError } from '../source-error.ts'

/**
 * Lengths of the fields before the access units of AAC in RTP packets (RFC 3640), in bits. A packet contains several
 * access units, or a part of one.
 */
export interface AacLayout {
  readonly sizeLength: number
  readonly indexLength: number
  readonly indexDeltaLength: number
}

/** A larger access unit is invalid: the units of all profiles are smaller. */
const MAX_UNIT_BYTES = 64 * 1024

/** Parameters for optional fields, which are not supported. */
const UNSUPPORTED_FIELDS = [
  'ctsdeltalength', 'dtsdeltalength', 'randomaccessindication', 'streamstateindication', 'auxiliarydatasizelength',
]

const bitsAt = (bytes: Buffer, at: number, count: number): number => {
  let value = 0
  for (let bit = at; bit < at + count; bit += 1)
    value = value * 2 + (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1)
  return value
}

/** Reads the layout from the format parameters. Throws `unsupported` when packets contain optional fields. */
export const layoutOf = (parameters: ReadonlyMap<string, string>): AacLayout => {
  const lengthOf = (name: string): number => {
    const text = parameters.get(name) ?? '0'
    const length = /^\d{1,2}$/.test(text) ? Number(text) : -1
    if (length < 0 || length > 32) throw new SourceError('unsupported')
    return length
  }
  if (UNSUPPORTED_FIELDS.some((name) => lengthOf(name) > 0)) throw new SourceError('unsupported')
  const sizeLength = lengthOf('sizelength')
  if (sizeLength === 0) throw new SourceError('unsupported')
  return { sizeLength, indexLength: lengthOf('indexlength'), indexDeltaLength: lengthOf('indexdeltalength') }
}

const sizesOf = (payload: Buffer, { sizeLength, indexLength, indexDeltaLength }: AacLayout): ReadonlyArray<number> => {
  const bits = Math.min(payload.readUInt16BE(), (payload.length - 2) * 8)
  const sizes: Array<number> = []
  for (let at = 0; ; ) {
    const length = sizeLength + (at === 0 ? indexLength : indexDeltaLength)
    if (at + length > bits) return sizes
    sizes.push(bitsAt(payload, 16 + at, sizeLength))
    at += length
  }
}

/** Creates a reader that returns complete access units. It drops incomplete units. */
export const createUnitReader = (layout: AacLayout): ((packet: RtpPacket) => ReadonlyArray<Buffer>) => {
  let pieces: Array<Buffer> = []
  let received = 0
  let wanted = 0
  let next = -1

  const clear = (): void => {
    pieces = []
    received = 0
  }

  const finishUnit = (): ReadonlyArray<Buffer> => {
    const unit = received === wanted ? [Buffer.concat(pieces)] : []
    clear()
    return unit
  }

  return ({ payload, sequence, marker }) => {
    if (payload.length < 2) return []
    // A packet is missing.
    if (sequence !== next) clear()
    next = (sequence + 1) % 65_536
    const headers = 2 + Math.ceil(payload.readUInt16BE() / 8)
    const sizes = sizesOf(payload, layout)
    const [size = 0] = sizes
    if (sizes.length === 1 && size > payload.length - headers) {
      if (size > MAX_UNIT_BYTES) return []
      wanted = size
      pieces.push(payload.subarray(headers))
      received += Math.max(0, payload.length - headers)
      return marker || received >= wanted ? finishUnit() : []
    }
    clear()
    let at = headers
    return sizes.flatMap((length) => {
      at += length
      return length > 0 && at <= payload.length ? [payload.subarray(at - length, at)] : []
    })
  }
}
