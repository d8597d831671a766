import { AVERROR_EAGAIN, AVERROR_EOF, AV_LOG_QUIET, AV_NOPTS_VALUE } from 'node-av/constants'
import { type FormatContext, Frame, Log, Packet } from 'node-av/lib'
import { SourceError } from '../source-error.ts'
import { beginOf, type DecodeInput, openKnownTrack, openTrack, type Track, withContainer } from './input.ts'
import { createResampler } from './resampler.ts'
import type { TimedPcm } from './timed-pcm.ts'

/** Where the container does not describe its audio, the first audio must come within these limits. */
const MAX_PROBED_BYTES = 10_000_000
const MAX_PROBED_SECONDS = 15
/** Errors of the container in a row after which its end counts as reached. */
const MAX_CONTAINER_ERRORS = 20

export interface DecodeOptions {
  readonly input: DecodeInput
  /** The number of the audio track, from 1; null: the default track. */
  readonly track?: number | null
  /**
   * Decoding waits until this resolves. The first piece is empty, and its time is the beginning of the media: its audio
   * may begin later.
   */
  readonly write: (audio: TimedPcm) => Promise<void>
  /** Reports container, codec, sample rate in Hz and channels, before the first audio. */
  readonly opened?: (format: string) => void
  /** Called once, when audio cannot be decoded and is left out. `seconds`: its time after the media begins. */
  readonly damaged?: (seconds: number) => void
}

/** The search for the first audio of a container that does not describe its audio. */
interface Search {
  isOn: boolean
}

/** Ends the bytes of an input when they pass the limit of the search. */
const limited = (input: DecodeInput, search: Search): DecodeInput => {
  if (!('read' in input)) return input
  let bytes = 0
  return {
    ...input,
    read: async (size) => {
      if (search.isOn && bytes > MAX_PROBED_BYTES) return null
      const piece = await input.read(size)
      bytes += piece?.length ?? 0
      return piece
    },
  }
}

const decodeContainer = async (format: FormatContext, options: DecodeOptions, search: Search): Promise<void> => {
  const { track: wanted = null, write, opened, damaged } = options
  const begin = beginOf(format)
  let track = await openKnownTrack(format, wanted)
  search.isOn = track === null
  const resampler = createResampler()
  const [packet, frame] = [new Packet(), new Frame()]
  packet.alloc()
  frame.alloc()
  let hasAudio = false
  let isDamaged = false
  /** Seconds after the beginning. */
  let position = 0

  const skip = (time: number | null): void => {
    if (!isDamaged) damaged?.(Math.max(0, time === null ? position : time - begin))
    isDamaged = true
  }

  const writeFrame = async ({ codec, secondsOf }: Track): Promise<void> => {
    const time = secondsOf(frame.pts)
    if (!hasAudio) {
      const { sampleRate, channelLayout: { nbChannels } } = frame
      opened?.(`${format.iformat?.name ?? 'unknown'} ${codec} ${sampleRate} ${nbChannels}`)
      await write({ pcm: Buffer.alloc(0), time: begin })
    }
    hasAudio = true
    search.isOn = false
    position = (time === null ? position : time - begin) + frame.nbSamples / frame.sampleRate
    const pcm = await resampler.convert(frame)
    if (pcm.length > 0) await write({ pcm, time })
  }

  /** Sends a packet to the decoder, null at the end, and writes all frames that are ready. */
  const advance = async (current: Track, next: Packet | null): Promise<void> => {
    const time = next === null ? null : current.secondsOf(next.pts)
    if ((await current.decoder.sendPacket(next)) < 0 && next !== null) skip(time)
    for (;;) {
      const code = await current.decoder.receiveFrame(frame)
      if (code < 0 && code !== AVERROR_EAGAIN && code !== AVERROR_EOF) skip(time)
      if (code < 0) return
      await writeFrame(current)
      frame.unref()
    }
  }

  let firstTime: number | null = null
  /** Whether too much media has passed without audio. */
  const isTooLate = (): boolean => {
    const timeBase = format.streams.find(({ index }) => index === packet.streamIndex)?.timeBase
    if (timeBase === undefined || packet.dts === AV_NOPTS_VALUE) return false
    const time = (Number(packet.dts) * timeBase.num) / timeBase.den
    firstTime ??= time
    return time - firstTime > MAX_PROBED_SECONDS
  }

  for (let errors = 0; errors < MAX_CONTAINER_ERRORS; ) {
    const code = await format.readFrame(packet)
    if (code === AVERROR_EAGAIN) continue
    if (code === AVERROR_EOF) break
    if (code < 0) {
      errors += 1
      skip(null)
      continue
    }
    errors = 0
    track ??= await openTrack(format, packet.streamIndex)
    if (search.isOn && isTooLate()) break
    if (track?.index === packet.streamIndex) await advance(track, packet)
    packet.unref()
  }
  if (track !== null) await advance(track, null)
  if (!hasAudio) throw new SourceError('no_audio')
  const pcm = await resampler.rest()
  if (pcm.length > 0) await write({ pcm, time: null })
}

/**
 * Decodes one audio track to s16le 16 kHz mono. What cannot be decoded is left out. Throws the SourceError `not_audio`
 * when the container is unknown, and `no_audio` when not one sample could be decoded, and MissingTrack.
 */
export const decode = async (options: DecodeOptions): Promise<void> => {
  Log.setLevel(AV_LOG_QUIET)
  const search: Search = { isOn: false }
  const input = limited(options.input, search)
  await withContainer(input, (format) => decodeContainer(format, options, search))
}
