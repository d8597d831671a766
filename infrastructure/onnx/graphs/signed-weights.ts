import {
  ELEMENT, type Field, fieldsOf, GRAPH, MODEL, namesIn, NODE, readVarint, TENSOR, VALUE, varint,
} from './onnx-format.ts'

/**
 * Rewrites 8-bit graphs for CPUs that multiply unsigned by signed bytes in one instruction (VNNI). Activations are
 * unsigned, so weights must be signed, but most exports have unsigned weights. Only weights of MatMulInteger and their
 * zero points change, both by 128, so the products stay equal to the bit.
 */

interface Initializer {
  readonly field: Field
  readonly type: number | undefined
  readonly raw: Field | undefined
  readonly parts: ReadonlyArray<Field>
}

/** The bodies of these operators can read values of the outer graph. */
const NESTING = new Set(['If', 'Loop', 'Scan'])

const readInitializers = (bytes: Uint8Array, graph: ReadonlyArray<Field>): ReadonlyMap<string, Initializer> =>
  new Map(
    graph.flatMap((field) => {
      if (field.number !== GRAPH.INITIALIZER) return []
      const parts = fieldsOf(bytes, field)
      const type = parts.find(({ number }) => number === TENSOR.TYPE)
      const raw = parts.find(({ number }) => number === TENSOR.RAW)
      const initializer = { field, parts, raw, type: type && readVarint(bytes, type.from)[0] }
      return namesIn(bytes, parts, TENSOR.NAME).map((name): [string, Initializer] => [name, initializer])
    }),
  )

/** A part of the new file. From `flip` on, each byte is reduced by 128. */
interface Piece {
  readonly bytes: Uint8Array
  readonly flip?: number
}

const lengthOf = (pieces: ReadonlyArray<Piece>): number => pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)

const message = (field: number, content: ReadonlyArray<Piece>): ReadonlyArray<Piece> => [
  { bytes: Uint8Array.of(...varint(field * 8 + 2), ...varint(lengthOf(content))) },
  ...content,
]

/** Joins pieces in one buffer. It copies weights only once, because a graph may fill the free memory. */
const joined = (pieces: ReadonlyArray<Piece>): Uint8Array => {
  const file = Buffer.allocUnsafe(lengthOf(pieces))
  let at = 0
  for (const { bytes, flip = bytes.length } of pieces) {
    file.set(bytes, at)
    for (let i = at + flip; i < at + bytes.length; i++) file[i] = (file[i] ?? 0) ^ 0x80
    at += bytes.length
  }
  return file
}

/** Reduces each value of a tensor by 128 to a signed byte. Zero points in a list of numbers also become bytes. */
const signedTensor = (bytes: Uint8Array, { parts }: Initializer): ReadonlyArray<Piece> => {
  const content = parts.map((part): Piece => {
    const values: Array<number> = []
    switch (part.number) {
      case TENSOR.TYPE:
        return { bytes: Uint8Array.of(TENSOR.TYPE * 8, ELEMENT.INT8) }
      case TENSOR.RAW:
        return { bytes: bytes.subarray(part.start, part.end), flip: part.from - part.start }
      case TENSOR.INTEGERS:
        for (let at = part.from; at < part.end;) {
          const [value, next] = readVarint(bytes, at)
          values.push(value ^ 0x80)
          at = next
        }
        return { bytes: Uint8Array.of(TENSOR.RAW * 8 + 2, ...varint(values.length), ...values) }
      default:
        return { bytes: bytes.subarray(part.start, part.end) }
    }
  })
  return message(GRAPH.INITIALIZER, content)
}

/** Returns the unsigned weights of MatMulInteger and their zero points, if nothing else uses them. */
const unsignedWeights = (bytes: Uint8Array, graph: ReadonlyArray<Field>): ReadonlyArray<Initializer> => {
  const nodes = graph.filter(({ number }) => number === GRAPH.NODE).map((field) => fieldsOf(bytes, field))
  const inputs = nodes.map((node) => namesIn(bytes, node, NODE.INPUT))
  const types = nodes.map((node) => namesIn(bytes, node, NODE.TYPE)[0] ?? '')
  const initializers = readInitializers(bytes, graph)
  if (types.some((type) => NESTING.has(type))) return []
  const uses = new Map<string, number>()
  const use = (name: string): void => void uses.set(name, (uses.get(name) ?? 0) + 1)
  inputs.flat().forEach(use)
  for (const field of graph) {
    if (field.number === GRAPH.INPUT || field.number === GRAPH.VALUE)
      namesIn(bytes, fieldsOf(bytes, field), VALUE.NAME).forEach(use)
  }
  return inputs.flatMap(([, weight = '', , zero = ''], i) => {
    const found = [initializers.get(weight), initializers.get(zero)].filter((constant) => constant !== undefined)
    const fits = found.length === 2 && found.every(({ type }) => type === ELEMENT.UINT8) && found[0]?.raw !== undefined
    return types[i] === 'MatMulInteger' && fits && uses.get(weight) === 1 && uses.get(zero) === 1 ? found : []
  })
}

/**
 * Converts the weights of a graph, which must all be in it, to signed bytes; null if nothing changes. Throws when the
 * bytes are no graph.
 */
export const withSignedWeights = (model: Uint8Array): Uint8Array | null => {
  const top = fieldsOf(model, { from: 0, end: model.length })
  const graphField = top.find(({ number }) => number === MODEL.GRAPH)
  if (graphField === undefined) return null
  const graph = fieldsOf(model, graphField)
  const changed = new Map(unsignedWeights(model, graph).map((initializer) => [initializer.field, initializer]))
  if (changed.size === 0) return null
  const unchanged = (field: Field): Piece => ({ bytes: model.subarray(field.start, field.end) })
  const content = graph.flatMap((field) => {
    const initializer = changed.get(field)
    return initializer === undefined ? unchanged(field) : signedTensor(model, initializer)
  })
  return joined(top.flatMap((field) => (field === graphField ? message(MODEL.GRAPH, content) : unchanged(field))))
}
