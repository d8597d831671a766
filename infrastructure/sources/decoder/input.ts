import { resolve } from 'node:path'
import {
  AVDISCARD_ALL, AVFMT_FLAG_CUSTOM_IO, AVMEDIA_TYPE_AUDIO, AV_NOPTS_VALUE,
} from 'node-av/constants'
import { Codec, CodecContext, Dictionary, FormatContext, IOContext, type Stream } from 'node-av/lib'
import { SourceError } from '../source-error.ts'

/**
 * Allowed containers for bytes from elsewhere. Playlists and reference formats (hls, dash, concat, sdp) are excluded,
 * because they would make FFmpeg open the files and addresses that they name.
 */
const FORMATS =
  'mp3,aac,flac,ogg,wav,matroska,webm,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mpegts,flv,ac3,eac3,aiff,caf,asf,avi,'
  + 'mpeg,amr,w64,au,loas'
/** No protocol is allowed, because all bytes come through `read`. */
const CLOSED = { protocol_whitelist: 'none', format_whitelist: FORMATS }
const USUAL = { probesize: '262144', analyzeduration: '1500000' }
/** For containers that we make ourselves: their header describes the audio, and longer probing would add delay. */
const QUICK = { probesize: '65536', analyzeduration: '200000' }
/** A file on this machine costs no waiting. All its tracks are found, so that users can number them. */
const PATIENT = { probesize: '10000000', analyzeduration: '15000000' }
const BUFFER_BYTES = 32_768
/** Units of FFmpeg's start time in a second. */
const TIME_BASE = 1_000_000
/** Containers whose times count from their own beginning. In the others the earliest time is the beginning. */
const COUNTS_FROM_ZERO = /\b(?:mov|matroska)\b/

export type DecodeInput =
  /** A file on this machine, in any format that FFmpeg knows. */
  | { readonly path: string }
  | {
    /** Returns at most `size` bytes; null at the end. */
    readonly read: (size: number) => Promise<Buffer | null>
    /** Whether we made the container ourselves, so its header describes the audio. */
    readonly stream: boolean
  }

/** The file has fewer audio tracks than the wanted one. */
export class MissingTrack extends Error {
  readonly tracks: number

  constructor(tracks: number) {
    super(`the file has ${tracks} audio track${tracks === 1 ? '' : 's'}`)
    this.tracks = tracks
  }
}

export const checked = (code: number): number => {
  if (code < 0) throw new SourceError('not_audio')
  return code
}

/** An absolute path, because FFmpeg would read `12:30.wav` as an address. Addresses stay as they are. */
const addressOf = (path: string): string => (path.includes('://') ? path : resolve(path))

/**
 * Opens a container, gives it to `use`, and closes it. Throws `not_audio` when it is of no known format, and whatever
 * `use` throws.
 */
export const withContainer = async (
  input: DecodeInput,
  use: (format: FormatContext) => Promise<void>,
): Promise<void> => {
  const format = new FormatContext()
  const io = 'path' in input ? null : new IOContext()
  try {
    if ('path' in input) checked(await format.openInput(addressOf(input.path), null, Dictionary.fromObject(PATIENT)))
    else {
      format.allocContext()
      io?.allocContextWithCallbacks(BUFFER_BYTES, 0, input.read, null, null)
      format.pb = io
      format.setFlags(AVFMT_FLAG_CUSTOM_IO)
      const options = { ...CLOSED, ...(input.stream ? QUICK : USUAL) }
      checked(await format.openInput('', null, Dictionary.fromObject(options)))
    }
    checked(await format.findStreamInfo(null))
    await use(format)
  } finally {
    await format.closeInput()
    // The callbacks would keep this process alive.
    io?.freeContext()
  }
}

/** Returns the time at which the media begins, in seconds of its own clock. */
export const beginOf = (format: FormatContext): number => {
  const { startTime, iformat } = format
  const start = startTime === AV_NOPTS_VALUE ? 0 : Number(startTime) / TIME_BASE
  return COUNTS_FROM_ZERO.test(iformat?.name ?? '') ? Math.min(0, start) : start
}

const isAudio = ({ codecpar }: Stream): boolean => codecpar.codecType === AVMEDIA_TYPE_AUDIO

/** Returns the index of the wanted audio track (the first has number 1), else of the default one; null: none yet. */
const indexOf = (format: FormatContext, track: number | null): number | null => {
  if (track === null) {
    const best = format.findBestStream(AVMEDIA_TYPE_AUDIO, -1, -1)
    return best < 0 ? null : best
  }
  const tracks = format.streams.filter(isAudio)
  const wanted = tracks[track - 1]
  if (wanted === undefined) throw new MissingTrack(tracks.length)
  return wanted.index
}

/** An audio track and its decoder. */
export interface Track {
  readonly index: number
  readonly codec: string
  readonly decoder: CodecContext
  /** Converts a timestamp of the track into seconds; null: unknown. */
  readonly secondsOf: (pts: bigint) => number | null
}

/** Opens the decoder of a stream. All other streams are skipped from now on. Null: no decoder can read it. */
export const openTrack = async (format: FormatContext, index: number): Promise<Track | null> => {
  const stream = format.streams.find((candidate) => candidate.index === index)
  const codec = stream === undefined || !isAudio(stream) ? null : Codec.findDecoder(stream.codecpar.codecId)
  if (stream === undefined || codec === null) return null
  const decoder = new CodecContext()
  decoder.allocContext3(codec)
  checked(decoder.parametersToContext(stream.codecpar))
  decoder.threadCount = 1
  // Needed for correct frame times when the decoder skips samples at the beginning.
  decoder.pktTimebase = stream.timeBase
  if ((await decoder.open2(codec, null)) < 0) return null
  for (const other of format.streams) if (other.index !== index) other.discard = AVDISCARD_ALL
  const { num, den } = stream.timeBase
  const secondsOf = (pts: bigint): number | null => (pts === AV_NOPTS_VALUE ? null : (Number(pts) * num) / den)
  return { index, codec: codec.name ?? 'unknown', decoder, secondsOf }
}

/** Opens the wanted or the default track; null: the container has not described an audio track yet. */
export const openKnownTrack = async (format: FormatContext, track: number | null): Promise<Track | null> => {
  const index = indexOf(format, track)
  return index === null ? null : openTrack(format, index)
}
