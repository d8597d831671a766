import {
  AVDISCARD_ALL, AVERROR_EAGAIN, AVERROR_EOF, AVFMT_FLAG_CUSTOM_IO, AVMEDIA_TYPE_AUDIO, AV_CHANNEL_ORDER_NATIVE,
  AV_LOG_QUIET, AV_NOPTS_VALUE, AV_SAMPLE_FMT_S16,
} from 'node-av/constants'
import { Codec, CodecContext, Dictionary, FormatContext, Frame, IOContext, Log, Packet, SoftwareResampleContext } from 'node-av/lib'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { SourceError } from '../source-error.ts'
import type { TimedPcm } from './timed-pcm.ts'

/**
 * What may be probed: media containers. No playlist and no reference format (hls, dash, concat, sdp): those would make
 * FFmpeg open what their text names (S4, S7).
 */
const FORMATS =
  'mp3,aac,flac,ogg,wav,matroska,webm,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mpegts,flv,ac3,eac3,aiff,caf,asf,avi,mpeg,amr,w64,au,loas'
/** No protocol either: all bytes come through `read`. */
const OPTIONS = { protocol_whitelist: 'none', format_whitelist: FORMATS, probesize: '262144', analyzeduration: '1500000' }
/** For containers that say at once what they hold: looking longer would only make a live late. */
const QUICK = { ...OPTIONS, probesize: '65536', analyzeduration: '200000' }
const MONO = { nbChannels: 1, order: AV_CHANNEL_ORDER_NATIVE, mask: 4n }
/** Front left and front right. */
const STEREO_MASK = 3n
const CENTRE_MASK = 4n
const BUFFER = 32_768
/** Packets in a row that are no audio to the decoder. */
const MAX_BAD_PACKETS = 200

const checked = (code: number): number => {
  if (code < 0) throw new SourceError('not_audio')
  return code
}

/** Frames of any rate, format and layout as s16le 16 kHz mono. */
const createResampler = () => {
  let context: SoftwareResampleContext | null = null
  let shape = ''

  const configure = (frame: Frame): SoftwareResampleContext => {
    const { channelLayout: { nbChannels, mask }, sampleRate, format } = frame
    const now = `${sampleRate}/${format}/${nbChannels}/${mask}`
    if (context !== null && now === shape) return context
    context?.free()
    const made = new SoftwareResampleContext()
    const known = mask === 0n ? { nbChannels, order: AV_CHANNEL_ORDER_NATIVE, mask: nbChannels === 1 ? CENTRE_MASK : STEREO_MASK } : frame.channelLayout
    // The format of an audio frame is a sample format.
    checked(made.allocSetOpts2(MONO, AV_SAMPLE_FMT_S16, SAMPLE_RATE, known, format as Parameters<typeof made.allocSetOpts2>[4], sampleRate))
    checked(made.init())
    context = made
    shape = now
    return made
  }

  const convert = async (by: SoftwareResampleContext, input: Array<Buffer> | null, samples: number): Promise<Buffer> => {
    const room = by.getOutSamples(samples)
    const output = Buffer.alloc(Math.max(2, room * 2))
    const made = checked(await by.convert([output], room, input, samples))
    return output.subarray(0, made * 2)
  }

  return {
    convert: async (frame: Frame): Promise<Buffer> => convert(configure(frame), frame.extendedData ?? frame.data, frame.nbSamples),
    rest: async (): Promise<Buffer> => (context === null ? Buffer.alloc(0) : convert(context, null, 0)),
  }
}

export interface DecodeOptions {
  readonly read: (size: number) => Promise<Buffer | null>
  /** May keep the decoder waiting. */
  readonly write: (audio: TimedPcm) => Promise<void>
  /** The container says at once what it holds. */
  readonly stream: boolean
  /** Container, codec, Hz and channels. */
  readonly opened: (format: string) => void
}

/** Opens a container whose bytes come from `read`, and the decoder of its best audio stream. */
const openInput = async ({ read, stream: quick, opened }: DecodeOptions) => {
  const format = new FormatContext()
  format.allocContext()
  const io = new IOContext()
  io.allocContextWithCallbacks(BUFFER, 0, read, null, null)
  format.pb = io
  format.setFlags(AVFMT_FLAG_CUSTOM_IO)
  checked(await format.openInput('', null, Dictionary.fromObject(quick ? QUICK : OPTIONS)))
  checked(await format.findStreamInfo(null))
  const index = checked(format.findBestStream(AVMEDIA_TYPE_AUDIO, -1, -1))
  const stream = format.streams.find((candidate) => candidate.index === index)
  const codec = stream === undefined ? null : Codec.findDecoder(stream.codecpar.codecId)
  if (stream === undefined || codec === null) throw new SourceError('not_audio')
  for (const other of format.streams) if (other.index !== index) other.discard = AVDISCARD_ALL
  const decoder = new CodecContext()
  decoder.allocContext3(codec)
  checked(decoder.parametersToContext(stream.codecpar))
  decoder.threadCount = 1
  // Without it what the decoder leaves out at a beginning would not move the times of its frames.
  decoder.pktTimebase = stream.timeBase
  checked(await decoder.open2(codec, null))
  opened(`${format.iformat?.name ?? 'unknown'} ${codec.name ?? 'unknown'} ${stream.codecpar.sampleRate} ${stream.codecpar.channels}`)
  const { num, den } = stream.timeBase
  const secondsOf = (pts: bigint): number | null => (pts === AV_NOPTS_VALUE ? null : (Number(pts) * num) / den)
  return { format, decoder, index, secondsOf }
}

/** Decodes the audio in the bytes of `read` to s16le 16 kHz mono; throws `not_audio`. */
export const decode = async (options: DecodeOptions): Promise<void> => {
  const { write } = options
  Log.setLevel(AV_LOG_QUIET)
  const { format, decoder, index, secondsOf } = await openInput(options)
  const resampler = createResampler()
  const [packet, frame] = [new Packet(), new Frame()]
  packet.alloc()
  frame.alloc()
  let badPackets = 0

  const drain = async (): Promise<void> => {
    for (;;) {
      const received = await decoder.receiveFrame(frame)
      if (received < 0) return
      badPackets = 0
      await write({ pcm: await resampler.convert(frame), time: secondsOf(frame.pts) })
      frame.unref()
    }
  }

  for (;;) {
    const code = await format.readFrame(packet)
    if (code === AVERROR_EAGAIN) continue
    // What a cut stream ends with is an end as well: its source knows whether it was meant.
    if (code < 0) {
      await decoder.sendPacket(null)
      await drain()
      await write({ pcm: await resampler.rest(), time: null })
      if (code !== AVERROR_EOF) throw new SourceError('not_audio')
      return
    }
    if (packet.streamIndex === index && (await decoder.sendPacket(packet)) < 0 && (badPackets += 1) > MAX_BAD_PACKETS) throw new SourceError('not_audio')
    await drain()
    packet.unref()
  }
}
