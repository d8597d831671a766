import { SourceError } from '../source-error.ts'

/** A value of AMF0 (Adobe, "Action Message Format -- AMF 0", 2007), limited to the types in RTMP commands. */
export type AmfValue = number | boolean | string | null | ReadonlyMap<string, AmfValue> | ReadonlyArray<AmfValue>

const NUMBER = 0
const BOOLEAN = 1
const STRING = 2
const OBJECT = 3
const NULL = 5
const UNDEFINED = 6
const ECMA_ARRAY = 8
const OBJECT_END = 9
const STRICT_ARRAY = 10
const DATE = 11
const LONG_STRING = 12
/** Limit for nested objects: more than servers send, and safe for our stack. */
const MAX_DEPTH = 8

const keyOf = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

const encodeValue = (value: AmfValue): Buffer => {
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9)
    bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (typeof value === 'boolean') return Buffer.from([BOOLEAN, Number(value)])
  if (typeof value === 'string') return Buffer.concat([Buffer.from([STRING]), keyOf(value)])
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<string, AmfValue>)]
    const members = entries.map(([key, member]) => Buffer.concat([keyOf(key), encodeValue(member)]))
    return Buffer.concat([Buffer.from([OBJECT]), ...members, Buffer.from([0, 0, OBJECT_END])])
  }
  return Buffer.from([NULL])
}

/** Encodes a sequence of values. Strings must not exceed 65,535 bytes. */
export const encodeAmf = (values: ReadonlyArray<AmfValue>): Buffer => Buffer.concat(values.map(encodeValue))

/**
 * Decodes all values of a command. Throws `bad_answer` on invalid AMF0. Each value takes at least one byte, so the
 * number of values is limited by the number of bytes.
 */
export const decodeAmf = (bytes: Buffer): ReadonlyArray<AmfValue> => {
  let at = 0

  const take = (size: number): Buffer => {
    if (at + size > bytes.length) throw new SourceError('bad_answer')
    at += size
    return bytes.subarray(at - size, at)
  }
  const text = (size: number): string => take(size).toString('utf8')
  const shortText = (): string => text(take(2).readUInt16BE())

  const members = (depth: number): ReadonlyMap<string, AmfValue> => {
    const found = new Map<string, AmfValue>()
    for (;;) {
      const key = shortText()
      if (key === '' && bytes[at] === OBJECT_END) {
        at += 1
        return found
      }
      found.set(key, value(depth + 1))
    }
  }

  const readers: Readonly<Record<number, (depth: number) => AmfValue>> = {
    [NUMBER]: () => take(8).readDoubleBE(),
    [BOOLEAN]: () => take(1)[0] !== 0,
    [STRING]: shortText,
    [OBJECT]: members,
    [NULL]: () => null,
    [UNDEFINED]: () => null,
    [ECMA_ARRAY]: (depth) => {
      // Skips the approximate length, because the end has its own mark.
      take(4)
      return members(depth)
    },
    [STRICT_ARRAY]: (depth) => {
      const count = take(4).readUInt32BE()
      const found: Array<AmfValue> = []
      while (found.length < count) found.push(value(depth + 1))
      return found
    },
    [DATE]: () => {
      const time = take(8).readDoubleBE()
      take(2)
      return time
    },
    [LONG_STRING]: () => text(take(4).readUInt32BE()),
  }

  const value = (depth: number): AmfValue => {
    const read = readers[take(1)[0] ?? -1]
    if (read === undefined || depth > MAX_DEPTH) throw new SourceError('bad_answer')
    return read(depth)
  }

  const values: Array<AmfValue> = []
  while (at < bytes.length) values.push(value(0))
  return values
}
