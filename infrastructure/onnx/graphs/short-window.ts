import { dimensionsOf, readGraph } from './graph-reader.ts'
import type { Graph, Operation } from './graph-reader.ts'
import { integers, node, valueOf } from './graph-writer.ts'
import { fieldsOf, GRAPH, message, MODEL, namesIn, TENSOR, varintsIn, VALUE } from './onnx-format.ts'
import type { Field } from './onnx-format.ts'

/**
 * Encoders of Whisper that were exported for full windows alone can hear shorter ones: what is added for the place of a
 * frame is the only thing in them that is as long as the window, and its beginning is as good. Measured: decision 45.
 */

const [SHAPE, LENGTH, CUT] = ['short_window_shape', 'short_window_length', 'short_window_positions']
const [ZERO, ONE, TWO, AXIS] = ['short_window_0', 'short_window_1', 'short_window_2', 'short_window_axis']

/** Weights that lie beside the file are not found from a graph in memory. */
const hasAllWeights = (model: Uint8Array, { constants }: Graph): boolean =>
  [...constants.values()].every(({ field }) =>
    varintsIn(model, fieldsOf(model, field), TENSOR.LOCATION).every((location) => location === 0))

interface Sum {
  readonly operation: Operation
  readonly constant: string
  readonly heard: string
}

interface Added {
  readonly sum: Sum | null
  /** The constant is cut to the length of the window already. */
  readonly isCut: boolean
}

/** Where a constant for each of so many positions is added. */
const addedIn = ({ operations, constants }: Graph, positions: number): Added => {
  const isLong = (value: string): boolean => constants.get(value)?.dimensions.at(-2) === positions
  const users = operations.filter(({ inputs }) => inputs.some(isLong))
  const [operation] = users
  if (operation === undefined || users.length > 1) return { sum: null, isCut: false }
  if (operation.type !== 'Add') return { sum: null, isCut: operation.type === 'Slice' }
  const [constant = '', heard = ''] = operation.inputs.toSorted((one, other) => Number(isLong(other)) - Number(isLong(one)))
  return { sum: { operation, constant, heard }, isCut: false }
}

/** The sum with as many of the constant's positions as are heard: [rows][positions][width]. */
const cutSum = ({ operation, constant, heard }: Sum): ReadonlyArray<Uint8Array> => [
  node('Shape', [heard], [SHAPE]),
  node('Slice', [SHAPE, ONE, TWO, ZERO], [LENGTH]),
  node('Slice', [constant, ZERO, LENGTH, AXIS], [CUT]),
  node('Add', [heard, CUT], operation.outputs),
]

interface Ports {
  readonly input: Field
  readonly output: Field
  /** As they are freed: of the input [rows][bins][frames], of the output [rows][positions][width]. */
  readonly freed: readonly [input: Uint8Array, output: Uint8Array]
  readonly isFixed: boolean
}

const portsOf = (model: Uint8Array, { fields }: Graph): Ports | null => {
  const named = (kind: number, wanted: string): Field | undefined =>
    fields.find((field) => field.number === kind && namesIn(model, fieldsOf(model, field), VALUE.NAME)[0] === wanted)
  const [input, output] = [named(GRAPH.INPUT, 'input_features'), named(GRAPH.OUTPUT, 'last_hidden_state')]
  if (input === undefined || output === undefined) return null
  const [rows = '', bins = '', frames] = dimensionsOf(model, input)
  const width = dimensionsOf(model, output).at(-1) ?? ''
  const freed = [
    valueOf(GRAPH.INPUT, ['input_features', [rows, bins, 'frames']]),
    valueOf(GRAPH.OUTPUT, ['last_hidden_state', [rows, 'positions', width]]),
  ] as const
  return { input, output, freed, isFixed: typeof frames === 'number' }
}

/**
 * The encoder for windows of up to `positions`; null where it takes them already, or is made in a way that is not known.
 * Throws on bytes that are no graph.
 */
export const withShortWindows = (model: Uint8Array, positions: number): Uint8Array | null => {
  const graph = readGraph(model)
  const ports = graph === null ? null : portsOf(model, graph)
  if (graph === null || ports === null || !hasAllWeights(model, graph)) return null
  const { sum, isCut } = addedIn(graph, positions)
  if (sum === null && !(isCut && ports.isFixed)) return null
  const rank = graph.constants.get(sum?.constant ?? '')?.dimensions.length ?? 0
  const changed = new Map<Field | undefined, ReadonlyArray<Uint8Array>>([
    [ports.input, [ports.freed[0]]],
    [ports.output, [ports.freed[1]]],
    [sum?.operation.field, sum === null ? [] : cutSum(sum)],
  ])
  const content = graph.fields.flatMap((field) => {
    // Lengths that the exporter wrote down for what is in between.
    if (field.number === GRAPH.VALUE) return []
    return changed.get(field) ?? [model.subarray(field.start, field.end)]
  })
  const constants = [integers(ZERO, [0]), integers(ONE, [1]), integers(TWO, [2]), integers(AXIS, [rank - 2])]
  return Buffer.concat(graph.top.map((field) => {
    if (field !== graph.graphField) return model.subarray(field.start, field.end)
    return message(MODEL.GRAPH, ...content, ...(sum === null ? [] : constants))
  }))
}
