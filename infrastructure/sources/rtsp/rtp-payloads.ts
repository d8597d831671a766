import { createUnitReader, layoutOf } from './aac-units.ts'
import { aacConfigTag, aacFrameTag, FLV_HEADER, flvAudioTag, opusConfigTag, opusPacketTag } from '../flv.ts'
import type { RtpPacket } from './rtp-packets.ts'
import type { RtpFormat } from './sdp.ts'

/** Converts the RTP packets of one format into a container for the decoder. */
export interface Depacketizer {
  /** The header of the container. */
  readonly begin: Buffer
  readonly packet: (packet: RtpPacket) => Buffer
}

const NOTHING = Buffer.alloc(0)
const MAX_RATE_HZ = 192_000
const MAX_CHANNELS = 8
const AAC_FRAME_SAMPLES = 1024

/**
 * Creates a function that converts timestamps into milliseconds after the first packet. Timestamps start at any value
 * and wrap after 32 bits (RFC 3550, 5.1).
 */
const createRtpClock = (rate: number): ((timestamp: number) => number) => {
  let last: number | null = null
  let passed = 0
  return (timestamp) => {
    passed += (timestamp - (last ?? timestamp)) | 0
    last = timestamp
    return Math.max(0, Math.floor((passed * 1000) / rate))
  }
}

/** Header of Sun's AU format, which has no times. Sample formats of RFC 3551 already have its byte order. */
const auHeader = (encoding: number, rate: number, channels: number): Buffer => {
  const header = Buffer.alloc(28)
  header.write('.snd', 0, 'latin1')
  for (const [index, value] of [header.length, 0xffffffff, encoding, rate, channels].entries())
    header.writeUInt32BE(value, 4 + 4 * index)
  return header
}

const samples = (encoding: number, sampleBytes: number) => ({ clockRate, channels }: RtpFormat): Depacketizer => ({
  begin: auHeader(encoding, clockRate, channels),
  // Cuts off an incomplete sample, which would shift all later samples and turn them into noise.
  packet: ({ payload }) => payload.subarray(0, payload.length - (payload.length % (sampleBytes * channels))),
})

/** G.711. At the telephone rate it becomes FLV with `header`, at other rates AU, because FLV does not support them. */
const telephone = (encoding: number, header: number) => (format: RtpFormat): Depacketizer => {
  if (format.clockRate !== 8000 || format.channels !== 1) return samples(encoding, 1)(format)
  const clock = createRtpClock(format.clockRate)
  return {
    begin: FLV_HEADER,
    packet: ({ payload, timestamp }) =>
      flvAudioTag(clock(timestamp), Buffer.concat([Buffer.from([header]), payload])),
  }
}

/** MPEG audio (RFC 2250, 3.5): four bytes, then frames or a part of a frame. */
const mpeg = (): Depacketizer => ({ begin: NOTHING, packet: ({ payload }) => payload.subarray(4) })

/** Opus (RFC 7587), which is always announced as stereo. */
const opus = ({ clockRate, channels }: RtpFormat): Depacketizer => {
  const clock = createRtpClock(clockRate)
  return {
    begin: Buffer.concat([FLV_HEADER, opusConfigTag(Math.min(2, channels))]),
    packet: ({ payload, timestamp }) => (payload.length === 0 ? NOTHING : opusPacketTag(clock(timestamp), payload)),
  }
}

const aac = ({ clockRate, parameters }: RtpFormat): Depacketizer => {
  const units = createUnitReader(layoutOf(parameters))
  const clock = createRtpClock(clockRate)
  return {
    begin: Buffer.concat([FLV_HEADER, aacConfigTag(Buffer.from(parameters.get('config') ?? '', 'hex'))]),
    packet: (packet) => {
      const startMs = clock(packet.timestamp)
      const durationMs = (frames: number): number => Math.floor((frames * AAC_FRAME_SAMPLES * 1000) / clockRate)
      return Buffer.concat(units(packet).map((unit, index) => aacFrameTag(startMs + durationMs(index), unit)))
    },
  }
}

const DEPACKETIZERS: Readonly<Record<string, (format: RtpFormat) => Depacketizer>> = {
  PCMU: telephone(1, 0x82), PCMA: telephone(27, 0x72), L16: samples(3, 2), MPA: mpeg, OPUS: opus,
  'MPEG4-GENERIC': aac,
}

/** Whether this format is supported. AAC needs its configuration. */
export const isSupported = ({ encoding, clockRate, channels, parameters }: RtpFormat): boolean =>
  Object.hasOwn(DEPACKETIZERS, encoding)
  && clockRate > 0 && clockRate <= MAX_RATE_HZ
  && channels > 0 && channels <= MAX_CHANNELS
  && (encoding !== 'MPEG4-GENERIC' || /^(?:[0-9a-f]{2}){2,64}$/i.test(parameters.get('config') ?? ''))

/** Creates the converter of a supported format. Throws `unsupported` for unsupported variants of AAC. */
export const createDepacketizer = (format: RtpFormat): Depacketizer =>
  (DEPACKETIZERS[format.encoding] ?? mpeg)(format)
