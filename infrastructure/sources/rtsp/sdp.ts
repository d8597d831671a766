/** An RTP audio format of a session description (RFC 8866). */
export interface RtpFormat {
  readonly payloadType: number
  /** In upper case. */
  readonly encoding: string
  /** Ticks of the timestamps per second. */
  readonly clockRate: number
  readonly channels: number
  /** Parameters of `a=fmtp`, with names in lower case. */
  readonly parameters: ReadonlyMap<string, string>
}

/** `a=recvonly` and the like, without `inactive`. */
export type Direction = 'recvonly' | 'sendrecv' | 'sendonly'

export interface AudioMedia {
  readonly formats: ReadonlyArray<RtpFormat>
  /** The direction as the client sees it, or null. */
  readonly direction: Direction | null
  /** Whether it is sent as SRTP. */
  readonly isEncrypted: boolean
  /** `a=control`, or null. */
  readonly control: string | null
}

export interface SessionDescription {
  readonly control: string | null
  /** Audio in RTP. */
  readonly audio: ReadonlyArray<AudioMedia>
}

/** Formats of the static payload types (RFC 3551, table 4). */
const STATIC_FORMATS: Readonly<Record<number, string>> = {
  0: 'PCMU/8000', 8: 'PCMA/8000', 10: 'L16/44100/2', 11: 'L16/44100/1', 14: 'MPA/90000',
}

const attribute = (lines: ReadonlyArray<string>, start: string): string | undefined =>
  lines.find((line) => line.startsWith(start))?.slice(start.length).trim()

const controlOf = (lines: ReadonlyArray<string>): string | null => attribute(lines, 'a=control:') ?? null

/** Returns the direction of a session or a medium, or undefined. */
const directionOf = (lines: ReadonlyArray<string>): Direction | 'inactive' | undefined =>
  (['inactive', 'recvonly', 'sendrecv', 'sendonly'] as const).find((name) => attribute(lines, `a=${name}`) === '')

const parametersOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(';').flatMap((part) => {
      const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part) ?? []
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value] as const]
    }),
  )

const formatOf = (lines: ReadonlyArray<string>, type: string): ReadonlyArray<RtpFormat> => {
  const payloadType = Number(type)
  const map = attribute(lines, `a=rtpmap:${type} `) ?? STATIC_FORMATS[payloadType]
  const [, encoding, clock, channels] = /^([\w.-]+)\/(\d{1,6})(?:\/(\d{1,2}))?$/.exec(map ?? '') ?? []
  if (encoding === undefined || !(payloadType >= 0 && payloadType < 128)) return []
  return [{
    payloadType,
    encoding: encoding.toUpperCase(),
    clockRate: Number(clock),
    channels: Number(channels ?? 1),
    parameters: parametersOf(attribute(lines, `a=fmtp:${type} `) ?? ''),
  }]
}

/** Parses a session description. Skips unknown content. Ignores addresses and ports, because no socket is opened. */
export const parseSdp = (text: string): SessionDescription => {
  const sections = text.split(/\r?\n(?=m=)/).map((section) => section.split(/\r?\n/))
  const [session = [], ...media] = sections
  return {
    control: controlOf(session),
    audio: media.flatMap((lines) => {
      const [, secure, types] = /^m=audio \S+ RTP\/(S?)AVPF? ([\d ]+)$/.exec(lines[0]?.trim() ?? '') ?? []
      // The direction of the session is that of each medium that states none (RFC 8866, 6.7).
      const direction = directionOf(lines) ?? directionOf(session) ?? null
      if (types === undefined || direction === 'inactive') return []
      const formats = types.trim().split(/ +/).flatMap((type) => formatOf(lines, type))
      return [{ formats, direction, isEncrypted: secure === 'S', control: controlOf(lines) }]
    }),
  }
}
