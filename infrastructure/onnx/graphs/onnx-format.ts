/**
 * A field of a protocol buffer, the format of ONNX files. Field numbers: onnx.proto of https://github.com/onnx/onnx.
 */
export interface Field {
  readonly number: number
  /** Position of its tag. */
  readonly start: number
  /** Position of its content, after the tag and the length, if it has a length. */
  readonly from: number
  readonly end: number
}

export const MODEL = { IR_VERSION: 1, GRAPH: 7, OPSET: 8 } as const
export const GRAPH = { NODE: 1, NAME: 2, INITIALIZER: 5, INPUT: 11, OUTPUT: 12, VALUE: 13 } as const
export const NODE = { INPUT: 1, OUTPUT: 2, TYPE: 4, ATTRIBUTE: 5 } as const
export const ATTRIBUTE = { NAME: 1, INTEGER: 3, STRING: 4, TENSOR: 5, GRAPH: 6, INTEGERS: 8, TYPE: 20 } as const
export const TENSOR = {
  DIMENSIONS: 1, TYPE: 2, FLOATS: 4, INTEGERS: 5, NAME: 8, RAW: 9, EXTERNAL_DATA: 13, LOCATION: 14,
} as const
export const VALUE = { NAME: 1, TYPE: 2 } as const
export const ELEMENT = { FLOAT: 1, UINT8: 2, INT8: 3, INT64: 7 } as const

/** Reads an integer of variable length at a position. `next` is the position after it. */
export const readVarint = (bytes: Uint8Array, at: number): readonly [value: number, next: number] => {
  let value = 0
  let factor = 1
  for (let i = at; ; i++) {
    const byte = bytes[i]
    if (byte === undefined) throw new Error('the graph is cut off')
    value += (byte & 0x7f) * factor
    factor *= 128
    if (byte < 0x80) return [value, i + 1]
  }
}

export const varint = (value: number): ReadonlyArray<number> =>
  value < 128 ? [value] : [(value % 128) | 0x80, ...varint(Math.floor(value / 128))]

/** Reads the numbers of a repeated field, packed or separate. */
export const varintsIn = (bytes: Uint8Array, fields: ReadonlyArray<Field>, number: number): ReadonlyArray<number> =>
  fields
    .filter((field) => field.number === number)
    .flatMap(({ start, from, end }) => {
      const isPacked = (bytes[start] ?? 0) % 8 === 2
      const values: Array<number> = []
      for (let at = from; at < end;) {
        const [value, next] = readVarint(bytes, at)
        values.push(value)
        at = isPacked ? next : end
      }
      return values
    })

const endOf = (bytes: Uint8Array, wire: number, at: number): readonly [from: number, end: number] => {
  switch (wire) {
    case 0:
      return [at, readVarint(bytes, at)[1]]
    case 1:
      return [at, at + 8]
    case 2: {
      const [length, from] = readVarint(bytes, at)
      return [from, from + length]
    }
    case 5:
      return [at, at + 4]
    default:
      throw new Error(`the graph has a field of wire type ${wire}`)
  }
}

/** Tags have 32 bits. */
const MAX_TAG = 2 ** 32 - 1

/** Reads the fields of a message. Throws when it is cut off or no message. */
export const fieldsOf = (bytes: Uint8Array, { from, end }: Pick<Field, 'from' | 'end'>): ReadonlyArray<Field> => {
  const fields: Array<Field> = []
  for (let start = from; start < end;) {
    const [tag, at] = readVarint(bytes, start)
    if (tag < 8 || tag > MAX_TAG) throw new Error(`the graph has a field with the tag ${tag}`)
    const [first, last] = endOf(bytes, tag % 8, at)
    if (last > end) throw new Error('the graph is cut off')
    fields.push({ number: Math.floor(tag / 8), start, from: first, end: last })
    start = last
  }
  return fields
}

const textOf = (bytes: Uint8Array, { from, end }: Field): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString()

/** Returns the texts of all fields with a number. */
export const namesIn = (bytes: Uint8Array, fields: ReadonlyArray<Field>, number: number): ReadonlyArray<string> =>
  fields.filter((field) => field.number === number).map((field) => textOf(bytes, field))

/** Encodes a field that contains a message or a text. */
export const message = (field: number, ...content: ReadonlyArray<Uint8Array>): Buffer => {
  const length = content.reduce((sum, { length: part }) => sum + part, 0)
  return Buffer.concat([Uint8Array.of(...varint(field * 8 + 2), ...varint(length)), ...content])
}
