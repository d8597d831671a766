import type { ByteRange } from './http-fetch.ts'
import { SourceError } from '../source-error.ts'

/** The `#EXT-X-KEY` that applies to a segment. */
export interface SegmentKey {
  readonly method: string
  readonly format: string
  readonly uri: string
  /** 16 bytes; null: the media sequence number is the initialisation vector. */
  readonly iv: Buffer | null
}

export interface InitialSection {
  readonly uri: string
  readonly range: ByteRange | null
}

export interface Segment {
  readonly sequence: number
  readonly uri: string
  /** Seconds. */
  readonly duration: number
  readonly range: ByteRange | null
  readonly discontinuity: boolean
  readonly key: SegmentKey | null
  readonly map: InitialSection | null
}

export interface MediaPlaylist {
  readonly kind: 'media'
  /** Seconds. */
  readonly targetDuration: number
  readonly ended: boolean
  readonly segments: ReadonlyArray<Segment>
}

interface Variant {
  readonly uri: string
  readonly bandwidth: number
  readonly audio: string | null
}

interface Rendition {
  readonly group: string
  readonly uri: string
  readonly isDefault: boolean
}

export interface MasterPlaylist {
  readonly kind: 'master'
  readonly variants: ReadonlyArray<Variant>
  readonly renditions: ReadonlyArray<Rendition>
}

type Attributes = ReadonlyMap<string, string>

/**
 * `NAME=value,NAME="quoted, value"` (RFC 8216, 4.2). The lookbehind lets a name start only once, which prevents
 * quadratic time on long names.
 */
const ATTRIBUTE = /(?<![A-Z0-9-])([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))/g

const attributesOf = (text: string): Attributes =>
  new Map([...text.matchAll(ATTRIBUTE)].map(([, name = '', quoted, plain]) => [name, quoted ?? plain ?? ''] as const))

const bad = (): never => {
  throw new SourceError('bad_playlist')
}

const integer = (text: string | undefined): number =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : bad()

const decimal = (text: string | undefined): number => {
  const value = Number.parseFloat(text ?? '')
  return Number.isFinite(value) && value >= 0 ? value : bad()
}

/** Parses `length[@offset]`. The default of the offset is `from`. */
const rangeOf = (text: string, from: number): ByteRange => {
  const [length, offset] = text.split('@')
  return { length: integer(length), offset: offset === undefined ? from : integer(offset) }
}

const ivOf = (text: string | undefined): Buffer | null => {
  if (text === undefined) return null
  const digits = /^0x([0-9a-f]{1,32})$/i.exec(text)?.[1] ?? bad()
  return Buffer.from(digits.padStart(32, '0'), 'hex')
}

const keyOf = (attributes: Attributes): SegmentKey | null => {
  const method = attributes.get('METHOD') ?? bad()
  if (method === 'NONE') return null
  return {
    method,
    format: attributes.get('KEYFORMAT') ?? 'identity',
    uri: attributes.get('URI') ?? bad(),
    iv: ivOf(attributes.get('IV')),
  }
}

const mapOf = (attributes: Attributes): InitialSection => {
  const range = attributes.get('BYTERANGE')
  return { uri: attributes.get('URI') ?? bad(), range: range === undefined ? null : rangeOf(range, 0) }
}

interface Line {
  readonly tag: string
  readonly value: string
}

/** Splits a line into its tag (`#EXT…`) and the value after the colon. A URI has the empty tag. */
const lineOf = (text: string): Line => {
  if (!text.startsWith('#')) return { tag: '', value: text }
  const colon = text.indexOf(':')
  return colon < 0 ? { tag: text, value: '' } : { tag: text.slice(0, colon), value: text.slice(colon + 1) }
}

const masterOf = (lines: ReadonlyArray<Line>): MasterPlaylist => {
  const variants: Array<Variant> = []
  const renditions: Array<Rendition> = []
  let pending: Attributes | null = null
  for (const { tag, value } of lines) {
    if (tag === '#EXT-X-STREAM-INF') pending = attributesOf(value)
    else if (tag === '' && pending !== null) {
      const bandwidth = Number(pending.get('BANDWIDTH') ?? 0)
      variants.push({ uri: value, bandwidth, audio: pending.get('AUDIO') ?? null })
      pending = null
    } else if (tag === '#EXT-X-MEDIA') {
      const media = attributesOf(value)
      const uri = media.get('URI')
      if (media.get('TYPE') === 'AUDIO' && uri !== undefined)
        renditions.push({ group: media.get('GROUP-ID') ?? '', uri, isDefault: media.get('DEFAULT') === 'YES' })
    }
  }
  return { kind: 'master', variants, renditions }
}

const mediaOf = (lines: ReadonlyArray<Line>): MediaPlaylist => {
  const segments: Array<Segment> = []
  let targetDuration = 0
  let sequence = 0
  let ended = false
  let [key, map]: [SegmentKey | null, InitialSection | null] = [null, null]
  // Properties of the next segment.
  let [duration, rangeText, discontinuity]: [number, string | null, boolean] = [0, null, false]

  const add = (uri: string): void => {
    const last = segments.at(-1)
    const before = last?.uri === uri ? last.range : null
    const from = before === null ? 0 : before.offset + before.length
    const range = rangeText === null ? null : rangeOf(rangeText, from)
    segments.push({ sequence, uri, duration, range, discontinuity, key, map })
    sequence += 1
    rangeText = null
    discontinuity = false
  }

  const handlers: Readonly<Record<string, (value: string) => void>> = {
    '#EXT-X-TARGETDURATION': (value) => { targetDuration = decimal(value) },
    '#EXT-X-MEDIA-SEQUENCE': (value) => { sequence = segments.length === 0 ? integer(value) : bad() },
    '#EXT-X-ENDLIST': () => { ended = true },
    '#EXTINF': (value) => { duration = decimal(value) },
    '#EXT-X-BYTERANGE': (value) => { rangeText = value },
    '#EXT-X-DISCONTINUITY': () => { discontinuity = true },
    '#EXT-X-KEY': (value) => { key = keyOf(attributesOf(value)) },
    '#EXT-X-MAP': (value) => { map = mapOf(attributesOf(value)) },
    '': add,
  }
  for (const { tag, value } of lines) if (Object.hasOwn(handlers, tag)) handlers[tag]?.(value)
  return { kind: 'media', targetDuration, ended, segments }
}

/** Whether a body with these first bytes is a playlist. */
export const looksLikePlaylist = (head: Buffer): boolean =>
  head.toString('latin1', 0, 10).replace(/^\xef\xbb\xbf/, '').startsWith('#EXTM3U')

/** Parses a playlist (RFC 8216). Ignores tags that do not affect which bytes are fetched. Throws `bad_playlist`. */
export const parsePlaylist = (text: string): MasterPlaylist | MediaPlaylist => {
  const texts = text.replace(/^\uFEFF/, '').split(/\r?\n/).map((line) => line.trim())
  const lines = texts.filter((line) => line !== '').map(lineOf)
  if (lines[0]?.tag !== '#EXTM3U') return bad()
  return lines.some(({ tag }) => tag === '#EXT-X-STREAM-INF') ? masterOf(lines) : mediaOf(lines)
}

/** Returns the URI of the audio rendition of the smallest variant, or of the variant itself if it has no rendition. */
export const chooseRendition = ({ variants, renditions }: MasterPlaylist): string => {
  const smallest = variants.toSorted((a, b) => a.bandwidth - b.bandwidth)[0] ?? bad()
  const group = renditions.filter(({ group: name }) => name === smallest.audio)
  return (group.find(({ isDefault }) => isDefault) ?? group[0])?.uri ?? smallest.uri
}
