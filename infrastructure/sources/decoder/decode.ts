import {
  AVDISCARD_ALL, AVERROR_EAGAIN, AVERROR_EOF, AVFMT_FLAG_CUSTOM_IO, AVMEDIA_TYPE_AUDIO, AV_CHANNEL_ORDER_NATIVE,
  AV_LOG_QUIET, AV_NOPTS_VALUE, AV_SAMPLE_FMT_S16,
} from 'node-av/constants'
import {
  Codec, CodecContext, Dictionary, FormatContext, Frame, IOContext, Log, Packet, SoftwareResampleContext,
} from 'node-av/lib'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { SourceError } from '../source-error.ts'
import type { TimedPcm } from './timed-pcm.ts'

/**
 * Allowed containers. Playlists and reference formats (hls, dash, concat, sdp) are excluded, because they would make
 * FFmpeg open the files and addresses that they name.
 */
const FORMATS =
  'mp3,aac,flac,ogg,wav,matroska,webm,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mpegts,flv,ac3,eac3,aiff,caf,asf,avi,'
  + 'mpeg,amr,w64,au,loas'
/** No protocol is allowed, because all bytes come through `read`. */
const OPTIONS = {
  protocol_whitelist: 'none', format_whitelist: FORMATS, probesize: '262144', analyzeduration: '1500000',
}
/** For containers that we make ourselves: their header describes the audio, and longer probing would add delay. */
const QUICK = { ...OPTIONS, probesize: '65536', analyzeduration: '200000' }
const MONO = { nbChannels: 1, order: AV_CHANNEL_ORDER_NATIVE, mask: 4n }
/** Front left and front right. */
const STEREO_MASK = 3n
const CENTRE_MASK = 4n
const BUFFER_BYTES = 32_768
/** Undecodable packets in a row after which the source counts as not audio. */
const MAX_BAD_PACKETS = 200

const checked = (code: number): number => {
  if (code < 0) throw new SourceError('not_audio')
  return code
}

/** Creates a converter from any rate, format and channel layout to s16le 16 kHz mono. */
const createResampler = () => {
  let context: SoftwareResampleContext | null = null
  let shape = ''

  const configure = (frame: Frame): SoftwareResampleContext => {
    const { channelLayout: { nbChannels, mask }, sampleRate, format } = frame
    const frameShape = `${sampleRate}/${format}/${nbChannels}/${mask}`
    if (context !== null && frameShape === shape) return context
    context?.free()
    const created = new SoftwareResampleContext()
    const defaultMask = nbChannels === 1 ? CENTRE_MASK : STEREO_MASK
    const layout =
      mask === 0n ? { nbChannels, order: AV_CHANNEL_ORDER_NATIVE, mask: defaultMask } : frame.channelLayout
    // The format of an audio frame is always a sample format.
    const sampleFormat = format as Parameters<typeof created.allocSetOpts2>[4]
    checked(created.allocSetOpts2(MONO, AV_SAMPLE_FMT_S16, SAMPLE_RATE, layout, sampleFormat, sampleRate))
    checked(created.init())
    context = created
    shape = frameShape
    return created
  }

  const convert = async (
    resampler: SoftwareResampleContext,
    input: Array<Buffer> | null,
    samples: number,
  ): Promise<Buffer> => {
    const room = resampler.getOutSamples(samples)
    const output = Buffer.alloc(Math.max(2, room * 2))
    const converted = checked(await resampler.convert([output], room, input, samples))
    return output.subarray(0, converted * 2)
  }

  return {
    convert: async (frame: Frame): Promise<Buffer> =>
      convert(configure(frame), frame.extendedData ?? frame.data, frame.nbSamples),
    rest: async (): Promise<Buffer> => (context === null ? Buffer.alloc(0) : convert(context, null, 0)),
  }
}

export interface DecodeOptions {
  readonly read: (size: number) => Promise<Buffer | null>
  /** Decoding waits until this resolves. */
  readonly write: (audio: TimedPcm) => Promise<void>
  /** Whether we made the container ourselves, so its header describes the audio. */
  readonly stream: boolean
  /** Reports container, codec, sample rate in Hz and channels. */
  readonly opened: (format: string) => void
}

/** Opens the container from the bytes of `read`, and a decoder for its best audio stream. */
const openInput = async ({ read, stream: quick, opened }: DecodeOptions) => {
  const format = new FormatContext()
  format.allocContext()
  const io = new IOContext()
  io.allocContextWithCallbacks(BUFFER_BYTES, 0, read, null, null)
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
  // Needed for correct frame times when the decoder skips samples at the beginning.
  decoder.pktTimebase = stream.timeBase
  checked(await decoder.open2(codec, null))
  const { sampleRate, channels } = stream.codecpar
  opened(`${format.iformat?.name ?? 'unknown'} ${codec.name ?? 'unknown'} ${sampleRate} ${channels}`)
  const { num, den } = stream.timeBase
  const secondsOf = (pts: bigint): number | null => (pts === AV_NOPTS_VALUE ? null : (Number(pts) * num) / den)
  return { format, decoder, index, secondsOf }
}

/** Decodes the audio in the bytes of `read` to s16le 16 kHz mono. Throws the SourceError `not_audio`. */
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
    // A truncated stream ends here, too. The source knows whether the end was intended.
    if (code < 0) {
      await decoder.sendPacket(null)
      await drain()
      await write({ pcm: await resampler.rest(), time: null })
      if (code !== AVERROR_EOF) throw new SourceError('not_audio')
      return
    }
    if (packet.streamIndex === index && (await decoder.sendPacket(packet)) < 0) badPackets += 1
    if (badPackets > MAX_BAD_PACKETS) throw new SourceError('not_audio')
    await drain()
    packet.unref()
  }
}
