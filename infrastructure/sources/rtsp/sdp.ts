/** What a session description (RFC 8866) says about one way to send sound by RTP. */
export interface RtpFormat {
  readonly payloadType: number
  /** In capitals. */
  readonly encoding: string
  /** Hz of its timestamps. */
  readonly clockRate: number
  readonly channels: number
  /** `a=fmtp`, names in small letters. */
  readonly parameters: ReadonlyMap<string, string>
}

export interface AudioMedia {
  readonly formats: ReadonlyArray<RtpFormat>
  /** `a=control`, null for none. */
  readonly control: string | null
}

export interface SessionDescription {
  readonly control: string | null
  /** Sound that comes in plain RTP. */
  readonly audio: ReadonlyArray<AudioMedia>
}

/** RFC 3551, table 4. */
const STATIC: Readonly<Record<number, string>> = { 0: 'PCMU/8000', 8: 'PCMA/8000', 10: 'L16/44100/2', 11: 'L16/44100/1', 14: 'MPA/90000' }

const attribute = (lines: ReadonlyArray<string>, start: string): string | undefined => lines.find((line) => line.startsWith(start))?.slice(start.length).trim()

const controlOf = (lines: ReadonlyArray<string>): string | null => attribute(lines, 'a=control:') ?? null

const parametersOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(';').flatMap((part) => {
      const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part) ?? []
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value] as const]
    }),
  )

const formatOf = (lines: ReadonlyArray<string>, type: string): ReadonlyArray<RtpFormat> => {
  const payloadType = Number(type)
  const map = attribute(lines, `a=rtpmap:${type} `) ?? STATIC[payloadType]
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

/** Anything that is not understood is left out; addresses and ports are never looked at (S5). */
export const parseSdp = (text: string): SessionDescription => {
  const sections = text.split(/\r?\n(?=m=)/).map((section) => section.split(/\r?\n/))
  const [session = [], ...media] = sections
  return {
    control: controlOf(session),
    audio: media.flatMap((lines) => {
      const [, types] = /^m=audio \S+ RTP\/AVPF? ([\d ]+)$/.exec(lines[0]?.trim() ?? '') ?? []
      if (types === undefined || lines.includes('a=inactive') || lines.includes('a=recvonly')) return []
      return [{ formats: types.trim().split(/ +/).flatMap((type) => formatOf(lines, type)), control: controlOf(lines) }]
    }),
  }
}
