import { SourceError } from '../source-error.ts'

/** An audio message of RTMP, as the body of an FLV tag that our decoder reads. */
export interface AudioMessage {
  /** The number of the codec in FLV, or the four letters of enhanced RTMP. */
  readonly codec: string
  /** The parameters of the audio that follows, if the message contains them. */
  readonly parameters: Buffer | null
  readonly body: Buffer
}

// Codecs of FLV (Adobe, "Flash Video File Format", 10.1, annex E.4.2.1).
const EXTENDED = 9
const AAC = 10
const AAC_PARAMETERS = 0

// Types of packets of enhanced RTMP (Veovera, "Enhanced RTMP", version 2, "Enhanced Audio").
const PARAMETERS = 0
const FRAMES = 1
const SEVERAL_TRACKS = 5
const MODIFIER = 7
/** How several tracks are packed: without sizes if there is one, with a codec each if their codecs differ. */
const [ONE_TRACK, MANY_CODECS] = [0, 2]
const DEFAULT_TRACK = 0

/** The codecs of enhanced RTMP that we play, by their four letters. */
export const EXTENDED_CODECS: ReadonlyArray<string> = ['Opus', 'ac-3', 'ec-3', 'fLaC', 'mp4a', '.mp3']

/** A packet of enhanced RTMP without its wrappers. */
interface Packet {
  readonly type: number
  readonly codec: string
  readonly data: Buffer
}

/** Reads a message from its start. Throws `bad_answer` when the message is too short. */
const createCursor = (bytes: Buffer) => {
  let at = 0
  const take = (size: number): Buffer => {
    if (at + size > bytes.length) throw new SourceError('bad_answer')
    at += size
    return bytes.subarray(at - size, at)
  }
  return {
    take,
    number: (size: number): number => take(size).readUIntBE(0, size),
    letters: (): string => take(4).toString('latin1'),
    rest: (): Buffer => bytes.subarray(at),
    hasMore: (): boolean => at < bytes.length,
  }
}

type Cursor = ReturnType<typeof createCursor>

/** Skips the modifiers of a packet, for instance nanoseconds of its time. Returns the type of the packet itself. */
const skipModifiers = (cursor: Cursor, first: number): number => {
  let type = first
  while (type === MODIFIER) {
    const size = cursor.number(1) + 1
    cursor.take(size < 256 ? size : cursor.number(2) + 1)
    type = cursor.number(1) % 16
  }
  return type
}

/** Returns the packet of the default track; null: the message contains only other tracks. */
const defaultTrack = (cursor: Cursor): Packet | null => {
  const head = cursor.number(1)
  const [packing, type] = [head >> 4, head % 16]
  let codec = packing === MANY_CODECS ? '' : cursor.letters()
  while (cursor.hasMore()) {
    if (packing === MANY_CODECS) codec = cursor.letters()
    const track = cursor.number(1)
    const data = packing === ONE_TRACK ? cursor.take(cursor.rest().length) : cursor.take(cursor.number(3))
    if (track === DEFAULT_TRACK) return { type, codec, data }
  }
  return null
}

const packetOf = (payload: Buffer): Packet | null => {
  const cursor = createCursor(payload)
  const type = skipModifiers(cursor, cursor.number(1) % 16)
  return type === SEVERAL_TRACKS ? defaultTrack(cursor) : { type, codec: cursor.letters(), data: cursor.rest() }
}

const extendedMessage = (payload: Buffer): AudioMessage | null => {
  const packet = packetOf(payload)
  if (packet === null || (packet.type !== PARAMETERS && packet.type !== FRAMES)) return null
  const { type, codec, data } = packet
  if (!EXTENDED_CODECS.includes(codec)) throw new SourceError('unsupported')
  const head = Buffer.from(`${String.fromCharCode(EXTENDED * 16 + type)}${codec}`, 'latin1')
  return { codec, parameters: type === PARAMETERS ? data : null, body: Buffer.concat([head, data]) }
}

/**
 * Parses the payload of an audio message. Null: it contains no audio of the default track, and no parameters of it.
 * Throws `bad_answer` when it is cut off, `unsupported` when its codec is unknown.
 */
export const parseAudioMessage = (payload: Buffer): AudioMessage | null => {
  const [first] = payload
  if (first === undefined) return null
  const codec = first >> 4
  if (codec === EXTENDED) return extendedMessage(payload)
  const hasParameters = codec === AAC && payload[1] === AAC_PARAMETERS && payload.length > 2
  return { codec: String(codec), parameters: hasParameters ? payload.subarray(2) : null, body: payload }
}

/**
 * Creates a function that tells whether a message begins other audio than the messages before it: the first audio,
 * another codec, or the same with other parameters, as after a restart of the publisher.
 */
export const createBeginDetector = (): ((message: AudioMessage) => boolean) => {
  let current: Pick<AudioMessage, 'codec' | 'parameters'> | null = null
  return ({ codec, parameters }) => {
    const known = current?.codec === codec ? current.parameters : null
    const isOther = parameters !== null && known !== null && !parameters.equals(known)
    const begins = current?.codec !== codec || isOther
    current = { codec, parameters: parameters ?? known }
    return begins
  }
}
