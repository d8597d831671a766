import {
  floats, integers, MICROSOFT, node, number, onnxFile, operatorsOf, text, type Value,
} from '../../infrastructure/onnx/graphs/graph-writer.ts'
import { ELEMENT, GRAPH, message, TENSOR } from '../../infrastructure/onnx/graphs/onnx-format.ts'

/** The sizes of a Whisper model. */
export interface WhisperShape {
  /** Layers of the encoder, and of the decoder. */
  readonly layers: number
  readonly width: number
  readonly heads: number
  readonly melBins: number
  readonly vocabulary: number
}

/** Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", table 1; large-v3 has 128 mel bins. */
export const SHAPES = {
  base: { layers: 6, width: 512, heads: 8, melBins: 80, vocabulary: 51_865 },
  'large-v3': { layers: 32, width: 1280, heads: 20, melBins: 128, vocabulary: 51_866 },
} as const satisfies Readonly<Record<string, WhisperShape>>

/** Frames of a window of 30 seconds, positions of the encoder, and positions of the decoder. */
const [FRAMES, POSITIONS, TEXT_POSITIONS] = [3000, 1500, 448]
/** Names of the graphs without `.onnx`. Each graph has its weights in a file next to it. */
export const GRAPHS = ['encoder_model', 'decoder_model', 'decoder_with_past_model'] as const
type GraphName = (typeof GRAPHS)[number]
export const weightsFileOf = (graph: GraphName): string => `${graph}.onnx_data`
/** LayerNormalization is an operator since this version. */
const OPERATORS = 17
const [ENTRY_KEY, ENTRY_VALUE, EXTERNAL] = [1, 2, 1]

/** Bytes that the weights file needs: its largest table. All tables begin at its first byte. */
export const weightsBytes = ({ vocabulary, width }: WhisperShape): number => 4 * vocabulary * width

/** Encodes a table of 32-bit floats that is in the weights file of its graph. */
const table = (graph: GraphName, name: string, dimensions: ReadonlyArray<number>): Uint8Array => {
  const entry = (key: string, value: string): Uint8Array =>
    message(TENSOR.EXTERNAL_DATA, text(ENTRY_KEY, key), text(ENTRY_VALUE, value))
  const bytes = 4 * dimensions.reduce((product, length) => product * length, 1)
  return message(
    GRAPH.INITIALIZER,
    ...dimensions.map((length) => number(TENSOR.DIMENSIONS, length)),
    number(TENSOR.TYPE, ELEMENT.FLOAT),
    text(TENSOR.NAME, name),
    entry('location', weightsFileOf(graph)),
    entry('length', String(bytes)),
    number(TENSOR.LOCATION, EXTERNAL),
  )
}

type Attributes = Parameters<typeof node>[3]

/** Collects the nodes and constants of a graph. Each method adds nodes and returns the name of their result. */
const createGraph = (graph: GraphName, { width, heads }: WhisperShape) => {
  const constants = new Map<string, Uint8Array>()
  const nodes: Array<Uint8Array> = []
  let count = 0
  const fresh = (): string => `v${(count += 1)}`
  const apply = (
    type: string,
    inputs: ReadonlyArray<string>,
    attributes: Attributes = {},
    output = fresh(),
    domain = '',
  ): string => {
    nodes.push(node(type, inputs, [output], attributes, { domain }))
    return output
  }
  const weights = (...dimensions: ReadonlyArray<number>): string => {
    const name = fresh()
    constants.set(name, table(graph, name, dimensions))
    return name
  }
  /** A list of equal values, or a single number if `length` is absent. */
  const filled = (value: number, length?: number): string => {
    const name = `${value}x${length ?? ''}`
    const values = new Float32Array(length ?? 1).fill(value)
    constants.set(name, floats(name, length === undefined ? [] : [length], new Uint8Array(values.buffer)))
    return name
  }
  const list = (...values: ReadonlyArray<number>): string => {
    const name = `[${values.join(',')}]`
    constants.set(name, integers(name, values))
    return name
  }
  const gelu = (input: string): string => apply('Gelu', [input], {}, fresh(), MICROSOFT)
  const linear = (input: string, from: number, to: number): string =>
    apply('Add', [apply('MatMul', [input, weights(from, to)]), filled(0, to)])
  const normal = (input: string, output?: string): string =>
    apply('LayerNormalization', [input, filled(1, width), filled(0, width)], {}, output)
  /** From [rows][positions][width] to [rows][heads][positions][size of a head]. */
  const split = (input: string, output?: string): string => {
    const reshaped = apply('Reshape', [input, list(0, 0, heads, width / heads)])
    return apply('Transpose', [reshaped], { perm: [0, 2, 1, 3] }, output)
  }
  const projected = (input: string, output?: string): string => split(linear(input, width, width), output)
  const attention = (query: string, key: string, value: string): string => {
    const scaled = apply('Mul', [query, filled((width / heads) ** -0.5)])
    const scores = apply('MatMul', [scaled, apply('Transpose', [key], { perm: [0, 1, 3, 2] })])
    const mixed = apply('MatMul', [apply('Softmax', [scores], { axis: 3 }), value])
    const joined = apply('Reshape', [apply('Transpose', [mixed], { perm: [0, 2, 1, 3] }), list(0, 0, width)])
    return linear(joined, width, width)
  }
  const plus = (left: string, right: string): string => apply('Add', [left, right])
  const feedForward = (input: string): string =>
    plus(input, linear(gelu(linear(normal(input), width, 4 * width)), 4 * width, width))
  const file = (inputs: ReadonlyArray<Value>, outputs: ReadonlyArray<Value>): Uint8Array =>
    Buffer.concat([
      onnxFile({ nodes, constants: [...constants.values()], inputs, outputs, operators: OPERATORS }),
      operatorsOf(MICROSOFT, 1),
    ])
  return { apply, weights, filled, list, gelu, normal, projected, attention, plus, feedForward, file }
}

/** Encodes the encoder. `rows`: the number of windows in a run, or a name when it takes any number. */
export const encoderOf = (shape: WhisperShape, rows: number | 'rows'): Uint8Array => {
  const { layers, width, melBins } = shape
  const graph = createGraph('encoder_model', shape)
  const { apply, weights, filled, gelu, normal, projected, attention, plus, feedForward, file } = graph
  const convolved = (input: string, from: number, stride: number): string => {
    const attributes = { kernel_shape: [3], pads: [1, 1], strides: [stride] }
    return gelu(apply('Conv', [input, weights(width, from, 3), filled(0, width)], attributes))
  }
  const heard = convolved(convolved('input_features', melBins, 1), width, 2)
  let state = plus(apply('Transpose', [heard], { perm: [0, 2, 1] }), weights(POSITIONS, width))
  for (let layer = 0; layer < layers; layer += 1) {
    const input = normal(state)
    state = plus(state, attention(projected(input), projected(input), projected(input)))
    state = feedForward(state)
  }
  normal(state, 'last_hidden_state')
  return file([['input_features', [rows, melBins, FRAMES]]], [['last_hidden_state', [rows, POSITIONS, width]]])
}

const PARTS = ['key', 'value'] as const

/** Encodes a decoder without a causal mask: the graph of the prompt, or of further tokens (`hasPast`). */
export const decoderOf = (shape: WhisperShape, hasPast: boolean): Uint8Array => {
  const { layers, width, heads, vocabulary } = shape
  const graph = createGraph(hasPast ? 'decoder_with_past_model' : 'decoder_model', shape)
  const { apply, weights, list, normal, projected, attention, plus, feedForward, file } = graph
  const cache = (layer: number, source: string, positions: number | string, kind: string): ReadonlyArray<Value> =>
    PARTS.map((part) => [`${kind}.${layer}.${source}.${part}`, ['rows', heads, positions, width / heads]])
  const lengthOf = (input: string, axis: number): string => apply('Shape', [input], { start: axis, end: axis + 1 })
  const first = hasPast ? lengthOf('past_key_values.0.decoder.key', 2) : list(0)
  const end = apply('Add', [first, lengthOf('input_ids', 1)])
  const positions = apply('Slice', [weights(TEXT_POSITIONS, width), first, end, list(0)])
  let state = plus(apply('Gather', [weights(vocabulary, width), 'input_ids']), positions)
  for (let layer = 0; layer < layers; layer += 1) {
    const input = normal(state)
    const query = projected(input)
    const [key, value] = PARTS.map((part) => {
      const name = `present.${layer}.decoder.${part}`
      if (!hasPast) return projected(input, name)
      return apply('Concat', [`past_key_values.${layer}.decoder.${part}`, projected(input)], { axis: 2 }, name)
    }) as [string, string]
    state = plus(state, attention(query, key, value))
    const [heardKey, heardValue] = PARTS.map((part) =>
      hasPast
        ? `past_key_values.${layer}.encoder.${part}`
        : projected('encoder_hidden_states', `present.${layer}.encoder.${part}`)) as [string, string]
    state = feedForward(plus(state, attention(projected(normal(state)), heardKey, heardValue)))
  }
  apply('MatMul', [normal(state), weights(width, vocabulary)], {}, 'logits')
  const every = (kind: string, source: string, length: number | string): ReadonlyArray<Value> =>
    Array.from({ length: layers }, (_, layer) => cache(layer, source, length, kind)).flat()
  const ids: Value = ['input_ids', ['rows', 'tokens'], ELEMENT.INT64]
  return file(
    hasPast
      ? [ids, ...every('past_key_values', 'decoder', 'past'), ...every('past_key_values', 'encoder', POSITIONS)]
      : [ids, ['encoder_hidden_states', ['rows', POSITIONS, width]]],
    [
      ['logits', ['rows', 'tokens', vocabulary]],
      ...every('present', 'decoder', 'text'),
      ...(hasPast ? [] : every('present', 'encoder', POSITIONS)),
    ],
  )
}
