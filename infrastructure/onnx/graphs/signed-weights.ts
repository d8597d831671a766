import { ELEMENT, fieldsOf, GRAPH, message, MODEL, namesIn, NODE, readVarint, TENSOR, VALUE, varint } from './onnx-format.ts'
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

/** The tensor with each value less by 128, as signed bytes; numbers of a list, as quantisers write zero points, become bytes too. */
const signedTensor = (bytes: Uint8Array, { parts }: Initializer): Buffer => {
  const content = parts.map((part): Uint8Array => {
    const values: Array<number> = []
    switch (part.number) {
      case TENSOR.TYPE:
        return Uint8Array.of(TENSOR.TYPE * 8, ELEMENT.INT8)
      case TENSOR.RAW: {
        const copy = new Uint8Array(bytes.subarray(part.start, part.end))
        for (let i = part.from - part.start; i < copy.length; i++) copy[i] = (copy[i] ?? 0) ^ 0x80
        return copy
      }
      case TENSOR.INTEGERS:
        for (let at = part.from; at < part.end; ) {
          const [value, next] = readVarint(bytes, at)
          values.push(value ^ 0x80)
          at = next
        }
        return Uint8Array.of(TENSOR.RAW * 8 + 2, ...varint(values.length), ...values)
      default:
        return bytes.subarray(part.start, part.end)
    }
  })
  return message(GRAPH.INITIALIZER, ...content)
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
  const content = graph.map((field) => {
    const initializer = changed.get(field)
    return initializer === undefined ? model.subarray(field.start, field.end) : signedTensor(model, initializer)
  })
  return Buffer.concat(top.map((field) => (field === graphField ? message(MODEL.GRAPH, ...content) : model.subarray(field.start, field.end))))
}
