import type { RtpPacket } from './rtp-packets.ts'
import { SourceError } from '../source-error.ts'

/** RFC 3640: access units of AAC in RTP packets, several in one or one in several. */
export interface AacLayout {
  /** Bits. */
  readonly sizeLength: number
  readonly indexLength: number
  readonly indexDeltaLength: number
}

/** An access unit of any profile is smaller. */
const MAX_UNIT = 64 * 1024

const bitsAt = (bytes: Buffer, at: number, count: number): number => {
  let value = 0
  for (let bit = at; bit < at + count; bit += 1) value = value * 2 + (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1)
  return value
}

/** Throws `unsupported` for header sections with more in them. */
export const layoutOf = (parameters: ReadonlyMap<string, string>): AacLayout => {
  const lengthOf = (name: string): number => {
    const text = parameters.get(name) ?? '0'
    const length = /^\d{1,2}$/.test(text) ? Number(text) : -1
    if (length < 0 || length > 32) throw new SourceError('unsupported')
    return length
  }
  if (['ctsdeltalength', 'dtsdeltalength', 'randomaccessindication', 'streamstateindication', 'auxiliarydatasizelength'].some((name) => lengthOf(name) > 0))
    throw new SourceError('unsupported')
  const layout = { sizeLength: lengthOf('sizelength'), indexLength: lengthOf('indexlength'), indexDeltaLength: lengthOf('indexdeltalength') }
  if (layout.sizeLength === 0) throw new SourceError('unsupported')
  return layout
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

/** Whole units, as they are complete. Broken ones are left out. */
export const createUnitReader = (layout: AacLayout): ((packet: RtpPacket) => ReadonlyArray<Buffer>) => {
  let pieces: Array<Buffer> = []
  let [have, wanted, next] = [0, 0, -1]

  const whole = (): ReadonlyArray<Buffer> => {
    const unit = have === wanted ? [Buffer.concat(pieces)] : []
    pieces = []
    have = 0
    return unit
  }

  return ({ payload, sequence, marker }) => {
    if (payload.length < 2) return []
    // A piece is missing.
    if (sequence !== next) [pieces, have] = [[], 0]
    next = (sequence + 1) % 65_536
    const headers = 2 + Math.ceil(payload.readUInt16BE() / 8)
    const sizes = sizesOf(payload, layout)
    const [size = 0] = sizes
    if (sizes.length === 1 && size > payload.length - headers) {
      if (size > MAX_UNIT) return []
      wanted = size
      pieces.push(payload.subarray(headers))
      have += Math.max(0, payload.length - headers)
      return marker || have >= wanted ? whole() : []
    }
    if (have > 0) [pieces, have] = [[], 0]
    let at = headers
    return sizes.flatMap((length) => {
      at += length
      return length > 0 && at <= payload.length ? [payload.subarray(at - length, at)] : []
    })
  }
}
