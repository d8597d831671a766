import { ELEMENT, fieldsOf, GRAPH, MODEL, namesIn, NODE, readVarint, TENSOR, VALUE, varint } from './onnx-format.ts'
import type { Field } from './onnx-format.ts'

/**
 * Rewrites 8-bit graphs for CPUs that multiply unsigned by signed bytes in one instruction (VNNI): activations are unsigned, so weights must be
 * signed, yet most exports have unsigned ones. Only weights of MatMulInteger and their zero points change, both by 128: the products stay the same
 * to the bit.
 */
interface Initializer {
  readonly field: Field
  readonly type: number | undefined
  readonly raw: Field | undefined
  readonly parts: ReadonlyArray<Field>
}

/** Bodies of these see the names of the graph around them. */
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

/** A stretch of the new file; from `flip` on each byte is less by 128. */
interface Piece {
  readonly bytes: Uint8Array
  readonly flip?: number
}

const lengthOf = (pieces: ReadonlyArray<Piece>): number => pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)

const message = (field: number, content: ReadonlyArray<Piece>): ReadonlyArray<Piece> =>
  [{ bytes: Uint8Array.of(...varint(field * 8 + 2), ...varint(lengthOf(content))) }, ...content]

/** In one buffer. Weights are copied once alone, for a graph may be as large as the memory that is left. */
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

/** The tensor with each value less by 128, as signed bytes; numbers of a list, as quantisers write zero points, become bytes too. */
const signedTensor = (bytes: Uint8Array, { parts }: Initializer): ReadonlyArray<Piece> => {
  const content = parts.map((part): Piece => {
    const values: Array<number> = []
    switch (part.number) {
      case TENSOR.TYPE:
        return { bytes: Uint8Array.of(TENSOR.TYPE * 8, ELEMENT.INT8) }
      case TENSOR.RAW:
        return { bytes: bytes.subarray(part.start, part.end), flip: part.from - part.start }
      case TENSOR.INTEGERS:
        for (let at = part.from; at < part.end; ) {
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

/** What changes: unsigned weights of MatMulInteger with their zero points, where nothing else uses either of them. */
const unsignedWeights = (bytes: Uint8Array, graph: ReadonlyArray<Field>): ReadonlyArray<Initializer> => {
  const nodes = graph.filter(({ number }) => number === GRAPH.NODE).map((field) => fieldsOf(bytes, field))
  const inputs = nodes.map((node) => namesIn(bytes, node, NODE.INPUT))
  const types = nodes.map((node) => namesIn(bytes, node, NODE.TYPE)[0] ?? '')
  const initializers = readInitializers(bytes, graph)
  const isExternal = [...initializers.values()].some(({ parts }) => parts.some(({ number, from }) => number === TENSOR.LOCATION && bytes[from] !== 0))
  if (isExternal || types.some((type) => NESTING.has(type))) return []
  const uses = new Map<string, number>()
  const use = (name: string): void => void uses.set(name, (uses.get(name) ?? 0) + 1)
  inputs.flat().forEach(use)
  for (const field of graph) {
    if (field.number === GRAPH.INPUT || field.number === GRAPH.VALUE) namesIn(bytes, fieldsOf(bytes, field), VALUE.NAME).forEach(use)
  }
  return inputs.flatMap(([, weight = '', , zero = ''], i) => {
    const both = [initializers.get(weight), initializers.get(zero)].filter((found) => found !== undefined)
    const fits = both.length === 2 && both.every(({ type }) => type === ELEMENT.UINT8) && both[0]?.raw !== undefined
    return types[i] === 'MatMulInteger' && fits && uses.get(weight) === 1 && uses.get(zero) === 1 ? both : []
  })
}

/** The graph with signed weights; null where nothing is to change. Throws on bytes that are no graph. */
export const withSignedWeights = (model: Uint8Array): Uint8Array | null => {
  const top = fieldsOf(model, { from: 0, end: model.length })
  const graphField = top.find(({ number }) => number === MODEL.GRAPH)
  if (graphField === undefined) return null
  const graph = fieldsOf(model, graphField)
  const changed = new Map(unsignedWeights(model, graph).map((initializer) => [initializer.field, initializer]))
  if (changed.size === 0) return null
  const asItIs = (field: Field): Piece => ({ bytes: model.subarray(field.start, field.end) })
  const content = graph.flatMap((field) => {
    const initializer = changed.get(field)
    return initializer === undefined ? asItIs(field) : signedTensor(model, initializer)
  })
  return joined(top.flatMap((field) => (field === graphField ? message(MODEL.GRAPH, content) : asItIs(field))))
}
