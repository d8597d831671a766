/** Finds out which file or stream format audio is in that a sender sends in place of raw samples. */

/** What a sender should send. */
export const WANTED = '16-bit little-endian mono PCM at 16 kHz'

/** Formats by the bytes that they begin with, or that follow after `at` bytes. */
const FORMATS: ReadonlyArray<{ readonly name: string; readonly magic: string; readonly at?: number }> = [
  { name: 'WebM or Matroska', magic: '\u001A\u0045\u00DF\u00A3' },
  { name: 'Ogg', magic: 'OggS' },
  { name: 'FLAC', magic: 'fLaC' },
  { name: 'MP3 with an ID3 tag', magic: 'ID3' },
  { name: 'MP4', magic: 'ftyp', at: 4 },
  { name: 'AIFF', magic: 'FORM' },
  { name: 'CAF', magic: 'caff' },
  { name: 'AU', magic: '.snd' },
  { name: 'AMR', magic: '#!AMR' },
  { name: 'WAVE of big-endian samples', magic: 'RIFX' },
  { name: 'WAVE of 64-bit size', magic: 'RF64' },
]

const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', at, at + length)

/** Returns the name of the format that begins with `bytes`. Null for raw samples and for WAVE. */
export const foreignFormat = (bytes: Uint8Array): string | null =>
  FORMATS.find(({ magic, at = 0 }) => textAt(bytes, at, magic.length) === magic)?.name ?? null

export const isWave = (bytes: Uint8Array): boolean =>
  textAt(bytes, 0, 4) === 'RIFF' && textAt(bytes, 8, 4) === 'WAVE'

/** A WAVE header is incomplete, holds other samples than those wanted, or ends where the samples begin. */
export type WaveHeader =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'foreign'; readonly name: string }
  | { readonly kind: 'whole'; readonly samplesAt: number }

const PCM = 1
/** The format is the beginning of a GUID at the end of the chunk. */
const EXTENSIBLE = 0xfffe
const CODINGS: ReadonlyMap<number, string> = new Map([
  [PCM, 'PCM'], [2, 'ADPCM'], [3, 'float'], [6, 'A-law'], [7, 'µ-law'], [0x11, 'ADPCM'], [0x55, 'MP3'],
])

/** Size of the part of a `fmt ` chunk that every WAVE file has. */
const FORMAT_BYTES = 16
const SUBFORMAT_AT = 24

/** Names the format in a `fmt ` chunk. Null: it is the one that is wanted. */
const unwanted = (chunk: DataView): string | null => {
  const tag = chunk.getUint16(0, true)
  const isExtended = tag === EXTENSIBLE && chunk.byteLength >= SUBFORMAT_AT + 2
  const code = isExtended ? chunk.getUint16(SUBFORMAT_AT, true) : tag
  const [channels, rate, bits] = [chunk.getUint16(2, true), chunk.getUint32(4, true), chunk.getUint16(14, true)]
  if (code === PCM && channels === 1 && rate === 16_000 && bits === 16) return null
  const coding = CODINGS.get(code) ?? `format ${code}`
  return `WAVE of ${bits}-bit ${coding} at ${rate} Hz with ${channels} ${channels === 1 ? 'channel' : 'channels'}`
}

/** Reads the header of a WAVE file, for which `isWave` is true. Sizes of files and of sample data do not matter. */
export const readWaveHeader = (bytes: Uint8Array): WaveHeader => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let isKnown = false
  for (let at = 12; at + 8 <= bytes.byteLength;) {
    const [id, size] = [textAt(bytes, at, 4), view.getUint32(at + 4, true)]
    const content = at + 8
    if (id === 'data')
      return isKnown ? { kind: 'whole', samplesAt: content } : { kind: 'foreign', name: 'WAVE without a format' }
    if (id === 'fmt ') {
      if (size < FORMAT_BYTES) return { kind: 'foreign', name: 'WAVE without a format' }
      if (content + size > bytes.byteLength) return { kind: 'incomplete' }
      const name = unwanted(new DataView(view.buffer, view.byteOffset + content, size))
      if (name !== null) return { kind: 'foreign', name }
      isKnown = true
    }
    at = content + size + (size % 2)
  }
  return { kind: 'incomplete' }
}
