import type { Socket } from 'node:net'
import fc from 'fast-check'
import { createCookies } from '../../../infrastructure/sources/http/cookies.ts'
import { parsePlaylist } from '../../../infrastructure/sources/http/hls-playlist.ts'
import { audioPlaylists } from '../../../infrastructure/sources/http/hls-renditions.ts'
import { acceptIcy, withoutTitles } from '../../../infrastructure/sources/http/icy.ts'
import { isStationList, isStationListHead, stationsOf } from '../../../infrastructure/sources/http/station-list.ts'
import { SourceError } from '../../../infrastructure/sources/source-error.ts'

const ADDRESS = new URL('http://radio.example/live/index.m3u8?token=t')
const MAX_REPLACED = 8 << 20

const text = fc.oneof(
  fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 40 }), fc.integer().map(String),
  fc.constantFrom(
    '', '"', "'", ',', '=', '{$a}', '{$', '}', '0x0A', '1e400', '-1', '99999999999999999999', '5@', 'YES', 'a.ts',
    'http://h/a', '__proto__', 'constructor', '\0', '\u2028', '[playlist]', 'eng', 'fr-CA', 'avc1,mp4a.40.2',
  ),
)
const name = fc.constantFrom(
  'URI', 'METHOD', 'IV', 'KEYFORMAT', 'BYTERANGE', 'BANDWIDTH', 'AUDIO', 'CODECS', 'TYPE', 'GROUP-ID', 'LANGUAGE',
  'DEFAULT', 'AUTOSELECT', 'NAME', 'VALUE', 'IMPORT', 'QUERYPARAM', 'SKIPPED-SEGMENTS',
)
const attribute = fc.tuple(name, text, fc.boolean()).map(([key, value, quoted]) =>
  (quoted ? `${key}="${value}"` : `${key}=${value}`))
const tag = fc.constantFrom(
  'EXTM3U', 'EXT-X-STREAM-INF', 'EXT-X-MEDIA', 'EXT-X-DEFINE', 'EXT-X-KEY', 'EXT-X-MAP', 'EXT-X-GAP', 'EXT-X-SKIP',
  'EXTINF', 'EXT-X-BYTERANGE', 'EXT-X-TARGETDURATION', 'EXT-X-MEDIA-SEQUENCE', 'EXT-X-DISCONTINUITY', 'EXT-X-ENDLIST',
  'EXT-X-PART', 'EXT-X-PRELOAD-HINT',
)
const line = fc.oneof(
  fc.tuple(tag, fc.oneof(text, fc.array(attribute, { maxLength: 6 }).map((list) => list.join(','))))
    .map(([key, value]) => `#${key}:${value}`),
  tag.map((key) => `#${key}`),
  text,
  fc.tuple(fc.nat(99), text).map(([number, value]) => `File${number}=${value}`),
)
const playlist = fc
  .tuple(fc.constantFrom('#EXTM3U\n', '#EXTM3U\n', '\uFEFF#EXTM3U\r\n', '[playlist]\n', ''), fc.array(line))
  .map(([head, lines]) => head + lines.join('\n'))

/** Runs a parser that may only throw a SourceError. */
const parsed = <A>(parse: () => A): A | null => {
  try {
    return parse()
  } catch (error) {
    if (error instanceof SourceError) return null
    throw error
  }
}

const checkPlaylist = (source: string): boolean => {
  const found = parsed(() => parsePlaylist(source, ADDRESS))
  if (found === null) return true
  const uris = found.kind === 'master'
    ? parsed(() => audioPlaylists(found, 'en')) ?? []
    : found.segments.map(({ uri }) => uri)
  return uris.join('').length <= source.length + MAX_REPLACED && (found.kind === 'media' || uris.length <= 5)
}

const checkStations = (source: string): boolean =>
  typeof isStationListHead(Buffer.from(source)) === 'boolean'
  && typeof isStationList(source) === 'boolean'
  && stationsOf(source).length <= 8

const checkCookies = (pairs: ReadonlyArray<string>): boolean => {
  const cookies = createCookies()
  for (const [index, pair] of pairs.entries()) cookies.keep(new URL(`http://h${index % 40}.example`), [pair, ...pairs])
  const { cookie = '' } = cookies.headerFor(new URL('http://h0.example/x'))
  return cookie.length <= 8192 && /^[ -~]*$/.test(cookie)
}

/** Splits bytes at the given places. */
const split = (bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))
}

/** Removes titles from bytes at once and in pieces. */
const checkTitles = async (bytes: Buffer, interval: number, places: ReadonlyArray<number>): Promise<boolean> => {
  const soundOf = async (pieces: ReadonlyArray<Buffer>): Promise<Buffer> => {
    const body = async function* (): AsyncGenerator<Buffer> {
      yield* pieces
    }
    const parts: Array<Buffer> = []
    for await (const part of withoutTitles(body(), interval)) parts.push(part)
    return Buffer.concat(parts)
  }
  const [whole, inPieces] = [await soundOf([bytes]), await soundOf(split(bytes, places))]
  return whole.equals(inPieces) && whole.length <= bytes.length
}

class FakeSocket {
  readonly received: Array<Buffer> = []
  push(bytes: Buffer | null): boolean {
    if (bytes !== null) this.received.push(bytes)
    return true
  }
}

/** Receives bytes that begin in any way through a socket that accepts ICY. */
const checkIcy = (bytes: Buffer, places: ReadonlyArray<number>): boolean => {
  const socket = new FakeSocket()
  acceptIcy(socket as unknown as Socket)
  for (const piece of [...split(bytes, places), null]) socket.push(piece)
  const expected = bytes.toString('latin1').replace(/^ICY /, 'HTTP/1.0 ')
  return Buffer.concat(socket.received).toString('latin1') === expected
}

/** Feeds hostile input to every parser of web sources. Throws with the smallest input that a parser does not bear. */
export const fuzzWebParsers = async (runs: number): Promise<void> => {
  const options = { numRuns: runs }
  const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array))
  const places = fc.array(fc.nat(400), { maxLength: 6 })
  fc.assert(fc.property(playlist, checkPlaylist), options)
  fc.assert(fc.property(playlist, checkStations), options)
  const cookie = fc.tuple(text, fc.string({ unit: 'binary' }), fc.constantFrom('', '; Max-Age=0', '; Expires=x'))
  fc.assert(fc.property(fc.array(cookie.map(([key, value, end]) => `${key}=${value}${end}`)), checkCookies), options)
  const head = fc.constantFrom('', 'I', 'ICY', 'ICY ', 'ICY 200 OK\r\n', 'HTTP/1.1 ')
  fc.assert(fc.property(head, bytes, places, (start, rest, cuts) =>
    checkIcy(Buffer.concat([Buffer.from(start), rest]), cuts)), options)
  await fc.assert(fc.asyncProperty(bytes, fc.integer({ min: 1, max: 50 }), places, checkTitles), options)
}
