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
  /** The segment does not exist: the packager has no audio for this time. */
  readonly gap: boolean
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

export interface Variant {
  readonly uri: string
  readonly bandwidth: number
  /** The group of its audio renditions; null: its audio is its own. */
  readonly audio: string | null
  /** Null: not given. */
  readonly codecs: ReadonlyArray<string> | null
}

/** An audio rendition. */
export interface Rendition {
  readonly group: string
  /** Null: the audio of the variant. */
  readonly uri: string | null
  /** A language tag; null: not given. */
  readonly language: string | null
  readonly isDefault: boolean
  /** Players may choose it without asking. */
  readonly isAutomatic: boolean
}

/** Values of `#EXT-X-DEFINE` by name. */
export type Variables = ReadonlyMap<string, string>

export interface MasterPlaylist {
  readonly kind: 'master'
  readonly variants: ReadonlyArray<Variant>
  readonly renditions: ReadonlyArray<Rendition>
  /** Its media playlists may import them. */
  readonly variables: Variables
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

const REFERENCE = /\{\$([\w-]+)\}/g
/** Limit for all values that replace references. Without it, a short playlist could name a long value many times. */
const MAX_REPLACED_CHARACTERS = 8 << 20

/**
 * Creates the variables of a playlist (RFC 8216bis, 4.4.2.3). `replaced` exchanges the references in a text for their
 * values; text that only looks like a reference stays.
 */
const createVariables = (url: URL, imported: Variables) => {
  const variables = new Map<string, string>()
  let room = MAX_REPLACED_CHARACTERS
  return {
    variables,
    define: (attributes: Attributes): void => {
      const [name, query] = [attributes.get('NAME') ?? attributes.get('IMPORT'), attributes.get('QUERYPARAM')]
      const value = query === undefined
        ? attributes.get('VALUE') ?? imported.get(name ?? '')
        : url.searchParams.get(query)
      if (value !== null && value !== undefined) variables.set(query ?? name ?? '', value)
    },
    replaced: (text: string): string =>
      variables.size === 0 ? text : text.replace(REFERENCE, (reference, name: string) => {
        const value = variables.get(name) ?? reference
        room -= value.length
        return room < 0 ? bad() : value
      }),
  }
}

/** Splits a line into its tag (`#EXT…`) and the value after the colon. A URI has the empty tag. */
const lineOf = (text: string): Line => {
  if (!text.startsWith('#')) return { tag: '', value: text }
  const colon = text.indexOf(':')
  return colon < 0 ? { tag: text, value: '' } : { tag: text.slice(0, colon), value: text.slice(colon + 1) }
}

const codecsOf = (text: string | undefined): ReadonlyArray<string> | null =>
  text === undefined || text.trim() === '' ? null : text.split(',').map((codec) => codec.trim())

const masterOf = (lines: ReadonlyArray<Line>, variables: Variables): MasterPlaylist => {
  const variants: Array<Variant> = []
  const renditions: Array<Rendition> = []
  let pending: Attributes | null = null
  for (const { tag, value } of lines) {
    if (tag === '#EXT-X-STREAM-INF') pending = attributesOf(value)
    else if (tag === '' && pending !== null) {
      variants.push({
        uri: value,
        bandwidth: Number(pending.get('BANDWIDTH') ?? 0),
        audio: pending.get('AUDIO') ?? null,
        codecs: codecsOf(pending.get('CODECS')),
      })
      pending = null
    } else if (tag === '#EXT-X-MEDIA') {
      const media = attributesOf(value)
      if (media.get('TYPE') === 'AUDIO')
        renditions.push({
          group: media.get('GROUP-ID') ?? '',
          uri: media.get('URI') ?? null,
          language: media.get('LANGUAGE') ?? null,
          isDefault: media.get('DEFAULT') === 'YES',
          isAutomatic: media.get('AUTOSELECT') === 'YES',
        })
    }
  }
  return { kind: 'master', variants, renditions, variables }
}

const mediaOf = (lines: ReadonlyArray<Line>): MediaPlaylist => {
  const segments: Array<Segment> = []
  let targetDuration = 0
  let sequence = 0
  let ended = false
  let [key, map]: [SegmentKey | null, InitialSection | null] = [null, null]
  // Properties of the next segment.
  let [duration, rangeText, discontinuity, gap]: [number, string | null, boolean, boolean] = [0, null, false, false]

  const add = (uri: string): void => {
    const last = segments.at(-1)
    const before = last?.uri === uri ? last.range : null
    const from = before === null ? 0 : before.offset + before.length
    const range = rangeText === null ? null : rangeOf(rangeText, from)
    segments.push({ sequence, uri, duration, range, discontinuity, gap, key, map })
    sequence += 1
    rangeText = null
    discontinuity = false
    gap = false
  }

  const handlers: Readonly<Record<string, (value: string) => void>> = {
    '#EXT-X-TARGETDURATION': (value) => { targetDuration = decimal(value) },
    '#EXT-X-MEDIA-SEQUENCE': (value) => { sequence = segments.length === 0 ? integer(value) : bad() },
    '#EXT-X-ENDLIST': () => { ended = true },
    '#EXTINF': (value) => { duration = decimal(value) },
    '#EXT-X-BYTERANGE': (value) => { rangeText = value },
    '#EXT-X-DISCONTINUITY': () => { discontinuity = true },
    '#EXT-X-GAP': () => { gap = true },
    // A server may leave out the oldest segments although nobody asked for it (RFC 8216bis, 4.4.5.2).
    '#EXT-X-SKIP': (value) => { sequence += integer(attributesOf(value).get('SKIPPED-SEGMENTS')) },
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

/**
 * Parses a playlist (RFC 8216). Ignores tags that do not affect which bytes are fetched. Throws `bad_playlist`. `url`:
 * its address. `imported`: the variables of the master playlist.
 */
export const parsePlaylist = (
  text: string,
  url: URL,
  imported: Variables = new Map(),
): MasterPlaylist | MediaPlaylist => {
  const { variables, define, replaced } = createVariables(url, imported)
  const lines: Array<Line> = []
  for (const raw of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const trimmed = raw.trim()
    if (trimmed === '') continue
    const line = lineOf(replaced(trimmed))
    if (line.tag === '#EXT-X-DEFINE') define(attributesOf(line.value))
    lines.push(line)
  }
  if (lines[0]?.tag !== '#EXTM3U') return bad()
  return lines.some(({ tag }) => tag === '#EXT-X-STREAM-INF') ? masterOf(lines, variables) : mediaOf(lines)
}
