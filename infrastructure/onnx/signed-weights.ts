/**
 * Rewrites 8-bit graphs for CPUs that multiply unsigned by signed bytes in one instruction (VNNI): activations are unsigned, so weights must be
 * signed, yet most exports have unsigned ones. Only weights of MatMulInteger and their zero points change, both by 128: the products stay the same
 * to the bit. Field numbers: onnx.proto of https://github.com/onnx/onnx.
 */
interface Field {
  readonly number: number
  /** With its tag. */
  readonly start: number
  /** Of its content; of a number, the number. */
  readonly from: number
  readonly end: number
}

interface Initializer {
  readonly field: Field
  readonly type: number | undefined
  readonly raw: Field | undefined
  readonly parts: ReadonlyArray<Field>
}

const [MODEL_GRAPH, GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_VALUE] = [7, 1, 5, 11, 13]
const [NODE_INPUT, NODE_TYPE, VALUE_NAME] = [1, 4, 1]
const [TENSOR_TYPE, TENSOR_INTEGERS, TENSOR_NAME, TENSOR_RAW, TENSOR_LOCATION] = [2, 5, 8, 9, 14]
const [UINT8, INT8] = [2, 3]
/** Bodies of these see the names of the graph around them. */
const NESTING = new Set(['If', 'Loop', 'Scan'])

const readVarint = (bytes: Uint8Array, at: number): readonly [value: number, next: number] => {
  let [value, factor] = [0, 1]
  for (let i = at; ; i++) {
    const byte = bytes[i]
    if (byte === undefined) throw new Error('the graph is cut off')
    value += (byte & 0x7f) * factor
    factor *= 128
    if (byte < 0x80) return [value, i + 1]
  }
}

const varint = (value: number): ReadonlyArray<number> => (value < 128 ? [value] : [(value % 128) | 0x80, ...varint(Math.floor(value / 128))])

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

const fieldsOf = (bytes: Uint8Array, { from, end }: { readonly from: number; readonly end: number }): ReadonlyArray<Field> => {
  const fields: Array<Field> = []
  for (let start = from; start < end; ) {
    const [tag, at] = readVarint(bytes, start)
    const [first, last] = endOf(bytes, tag % 8, at)
    fields.push({ number: Math.floor(tag / 8), start, from: first, end: last })
    start = last
  }
  return fields
}

const textOf = (bytes: Uint8Array, { from, end }: Field): string => Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString()

const namesIn = (bytes: Uint8Array, fields: ReadonlyArray<Field>, number: number): ReadonlyArray<string> =>
  fields.filter((field) => field.number === number).map((field) => textOf(bytes, field))

const readInitializers = (bytes: Uint8Array, graph: ReadonlyArray<Field>): ReadonlyMap<string, Initializer> =>
  new Map(
    graph.flatMap((field) => {
      if (field.number !== GRAPH_INITIALIZER) return []
      const parts = fieldsOf(bytes, field)
      const type = parts.find(({ number }) => number === TENSOR_TYPE)
      const raw = parts.find(({ number }) => number === TENSOR_RAW)
      const initializer = { field, parts, raw, type: type && readVarint(bytes, type.from)[0] }
      return namesIn(bytes, parts, TENSOR_NAME).map((name): [string, Initializer] => [name, initializer])
    }),
  )

const message = (number: number, content: ReadonlyArray<Uint8Array>): Buffer => {
  const length = content.reduce((sum, { length: part }) => sum + part, 0)
  return Buffer.concat([Uint8Array.of(number * 8 + 2, ...varint(length)), ...content])
}

/** The tensor with each value less by 128, as signed bytes; numbers of a list, as quantisers write zero points, become bytes too. */
const signedTensor = (bytes: Uint8Array, { parts }: Initializer): Buffer => {
  const content = parts.map((part): Uint8Array => {
    const values: Array<number> = []
    switch (part.number) {
      case TENSOR_TYPE:
        return Uint8Array.of(TENSOR_TYPE * 8, INT8)
      case TENSOR_RAW: {
        const copy = new Uint8Array(bytes.subarray(part.start, part.end))
        for (let i = part.from - part.start; i < copy.length; i++) copy[i] = (copy[i] ?? 0) ^ 0x80
        return copy
      }
      case TENSOR_INTEGERS:
        for (let at = part.from; at < part.end; ) {
          const [value, next] = readVarint(bytes, at)
          values.push(value ^ 0x80)
          at = next
        }
        return Uint8Array.of(TENSOR_RAW * 8 + 2, ...varint(values.length), ...values)
      default:
        return bytes.subarray(part.start, part.end)
    }
  })
  return message(GRAPH_INITIALIZER, content)
}

/** What changes: unsigned weights of MatMulInteger with their zero points, where nothing else uses either of them. */
const unsignedWeights = (bytes: Uint8Array, graph: ReadonlyArray<Field>): ReadonlyArray<Initializer> => {
  const nodes = graph.filter(({ number }) => number === GRAPH_NODE).map((field) => fieldsOf(bytes, field))
  const inputs = nodes.map((node) => namesIn(bytes, node, NODE_INPUT))
  const types = nodes.map((node) => namesIn(bytes, node, NODE_TYPE)[0] ?? '')
  const initializers = readInitializers(bytes, graph)
  const isExternal = [...initializers.values()].some(({ parts }) => parts.some(({ number, from }) => number === TENSOR_LOCATION && bytes[from] !== 0))
  if (isExternal || types.some((type) => NESTING.has(type))) return []
  const uses = new Map<string, number>()
  const use = (name: string): void => void uses.set(name, (uses.get(name) ?? 0) + 1)
  inputs.flat().forEach(use)
  for (const field of graph) {
    if (field.number === GRAPH_INPUT || field.number === GRAPH_VALUE) namesIn(bytes, fieldsOf(bytes, field), VALUE_NAME).forEach(use)
  }
  return inputs.flatMap(([, weight = '', , zero = ''], i) => {
    const both = [initializers.get(weight), initializers.get(zero)].filter((found) => found !== undefined)
    const fits = both.length === 2 && both.every(({ type }) => type === UINT8) && both[0]?.raw !== undefined
    return types[i] === 'MatMulInteger' && fits && uses.get(weight) === 1 && uses.get(zero) === 1 ? both : []
  })
}

/** The graph with signed weights; null where nothing is to change. Throws on bytes that are no graph. */
export const withSignedWeights = (model: Uint8Array): Uint8Array | null => {
  const top = fieldsOf(model, { from: 0, end: model.length })
  const graphField = top.find(({ number }) => number === MODEL_GRAPH)
  if (graphField === undefined) return null
  const graph = fieldsOf(model, graphField)
  const changed = new Map(unsignedWeights(model, graph).map((initializer) => [initializer.field, initializer]))
  if (changed.size === 0) return null
  const content = graph.map((field) => {
    const initializer = changed.get(field)
    return initializer === undefined ? model.subarray(field.start, field.end) : signedTensor(model, initializer)
  })
  return Buffer.concat(top.map((field) => (field === graphField ? message(MODEL_GRAPH, content) : model.subarray(field.start, field.end))))
}
