/** An EBML element (RFC 8794) with a length of eight bytes. `id`: hexadecimal. */
const element = (id: string, body: Buffer | ReadonlyArray<Buffer>): Buffer => {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(body)
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE((1n << 56n) | BigInt(bytes.length))
  return Buffer.concat([Buffer.from(id, 'hex'), length, bytes])
}

const unsigned = (id: string, value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return element(id, bytes)
}

const text = (id: string, value: string): Buffer => element(id, Buffer.from(value))

const rateOf = (hertz: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(hertz)
  return element('b5', bytes)
}

export interface MatroskaTrack {
  readonly isDefault?: boolean
  readonly channels?: number
  readonly codec?: string
}

export interface MatroskaBlock {
  /** From 1. */
  readonly track?: number
  /** Seconds. */
  readonly at: number
  readonly bytes: Buffer
}

/** Writes a Matroska file (RFC 9559) of audio tracks with 16-bit samples at 16 kHz, in blocks with times. */
export const matroskaOf = (tracks: ReadonlyArray<MatroskaTrack>, blocks: ReadonlyArray<MatroskaBlock>): Buffer => {
  const entries = tracks.map(({ isDefault = true, channels = 1, codec = 'A_PCM/INT/LIT' }, index) =>
    element('ae', [
      unsigned('d7', index + 1), unsigned('73c5', index + 1), unsigned('83', 2), unsigned('88', isDefault ? 1 : 0),
      text('86', codec), element('e1', [rateOf(16_000), unsigned('9f', channels), unsigned('6264', 16)]),
    ]))
  const clusters = blocks.map(({ track = 1, at, bytes }) => {
    const head = Buffer.from([0x80 | track, 0, 0, 0x80])
    return element('1f43b675', [unsigned('e7', Math.round(at * 1000)), element('a3', [head, bytes])])
  })
  return Buffer.concat([
    element('1a45dfa3', [text('4282', 'matroska'), unsigned('4287', 4), unsigned('4285', 2)]),
    element('18538067', [
      element('1549a966', [unsigned('2ad7b1', 1_000_000), text('4d80', 'test'), text('5741', 'test')]),
      element('1654ae6b', entries), ...clusters,
    ]),
  ])
}
