import { createUnitReader, layoutOf } from './aac-units.ts'
import { aacConfigTag, aacFrameTag, FLV_HEADER } from '../flv.ts'
import { createOggOpus } from './ogg-opus.ts'
import type { RtpPacket } from './rtp-packets.ts'
import type { RtpFormat } from './sdp.ts'

/** Makes a container that the decoder reads of the packets of one format. */
export interface Depacketizer {
  readonly begin: Buffer
  readonly packet: (packet: RtpPacket) => Buffer
}

const NOTHING = Buffer.alloc(0)
const MAX_RATE = 192_000
const MAX_CHANNELS = 8

/** Sun's AU: all that RFC 3551 has of samples is in its byte order already. */
const auHeader = (encoding: number, rate: number, channels: number): Buffer => {
  const header = Buffer.alloc(28)
  header.write('.snd', 0, 'latin1')
  for (const [index, value] of [header.length, 0xffffffff, encoding, rate, channels].entries()) header.writeUInt32BE(value, 4 + 4 * index)
  return header
}

const samples = (encoding: number, sampleBytes: number) => ({ clockRate, channels }: RtpFormat): Depacketizer => ({
  begin: auHeader(encoding, clockRate, channels),
  // Half a frame would turn all that follows into noise.
  packet: ({ payload }) => payload.subarray(0, payload.length - (payload.length % (sampleBytes * channels))),
})

/** RFC 2250, 3.5: four bytes, then frames or a piece of one. */
const mpeg = (): Depacketizer => ({ begin: NOTHING, packet: ({ payload }) => payload.subarray(4) })

/** RFC 7587: always said to be stereo. */
const opus = ({ channels }: RtpFormat): Depacketizer => {
  const ogg = createOggOpus(Math.min(2, channels))
  return { begin: ogg.begin, packet: ({ payload }) => ogg.packet(payload) }
}

const aac = ({ clockRate, parameters }: RtpFormat): Depacketizer => {
  const units = createUnitReader(layoutOf(parameters))
  let first: number | null = null
  return {
    begin: Buffer.concat([FLV_HEADER, aacConfigTag(Buffer.from(parameters.get('config') ?? '', 'hex'))]),
    packet: (packet) => {
      first ??= packet.timestamp
      const passed = (packet.timestamp - first + 2 ** 32) % 2 ** 32
      const at = Math.floor((passed * 1000) / clockRate) % 2 ** 32
      return Buffer.concat(units(packet).map((unit) => aacFrameTag(at, unit)))
    },
  }
}

const MAKERS: Readonly<Record<string, (format: RtpFormat) => Depacketizer>> = {
  PCMU: samples(1, 1), PCMA: samples(27, 1), L16: samples(3, 2), MPA: mpeg, OPUS: opus, 'MPEG4-GENERIC': aac,
}

/** Can this format be heard? AAC needs its configuration. */
export const isKnown = ({ encoding, clockRate, channels, parameters }: RtpFormat): boolean =>
  Object.hasOwn(MAKERS, encoding) && clockRate > 0 && clockRate <= MAX_RATE && channels > 0 && channels <= MAX_CHANNELS &&
  (encoding !== 'MPEG4-GENERIC' || /^(?:[0-9a-f]{2}){2,64}$/i.test(parameters.get('config') ?? ''))

/** Only for formats that are known; throws `unsupported` for variants of them that are not. */
export const createDepacketizer = (format: RtpFormat): Depacketizer => (MAKERS[format.encoding] ?? mpeg)(format)
