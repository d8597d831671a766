import { dimensionsOf, type Graph, type Operation, readGraph } from './graph-reader.ts'
import { integers, node, valueOf } from './graph-writer.ts'
import { type Field, fieldsOf, GRAPH, message, MODEL, namesIn, VALUE } from './onnx-format.ts'

/**
 * Lets Whisper encoders that were exported for full windows take shorter ones. Only the constant with the positions
 * is as long as the window, and its first rows suffice. Measurements: docs/decisions/0045-short-windows.md.
 */

const [SHAPE, LENGTH, CUT] = ['short_window_shape', 'short_window_length', 'short_window_positions']
const [ZERO, ONE, TWO, AXIS] = ['short_window_0', 'short_window_1', 'short_window_2', 'short_window_axis']

interface Sum {
  readonly operation: Operation
  readonly constant: string
  readonly features: string
}

interface Added {
  readonly sum: Sum | null
  /** The export already cuts the constant to the length of the window. */
  readonly isCut: boolean
}

/** Finds the node that adds the constant with one row per position. */
const positionSumIn = ({ operations, constants }: Graph, positions: number): Added => {
  const isLong = (value: string): boolean => constants.get(value)?.dimensions.at(-2) === positions
  const users = operations.filter(({ inputs }) => inputs.some(isLong))
  const [operation] = users
  if (operation === undefined || users.length > 1) return { sum: null, isCut: false }
  if (operation.type !== 'Add') return { sum: null, isCut: operation.type === 'Slice' }
  const [constant = '', features = ''] = operation.inputs.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)))
  return { sum: { operation, constant, features }, isCut: false }
}

/** Encodes the sum with the constant cut to the positions of the input: [rows][positions][width]. */
const cutSum = ({ operation, constant, features }: Sum): ReadonlyArray<Uint8Array> => [
  node('Shape', [features], [SHAPE]),
  node('Slice', [SHAPE, ONE, TWO, ZERO], [LENGTH]),
  node('Slice', [constant, ZERO, LENGTH, AXIS], [CUT]),
  node('Add', [features, CUT], operation.outputs),
]

interface Ports {
  readonly input: Field
  readonly output: Field
  /** With a dynamic length: the input [rows][bins][frames], the output [rows][positions][width]. */
  readonly dynamic: readonly [input: Uint8Array, output: Uint8Array]
  readonly isFixed: boolean
}

const portsOf = (model: Uint8Array, { fields }: Graph): Ports | null => {
  const named = (kind: number, wanted: string): Field | undefined =>
    fields.find((field) => field.number === kind && namesIn(model, fieldsOf(model, field), VALUE.NAME)[0] === wanted)
  const [input, output] = [named(GRAPH.INPUT, 'input_features'), named(GRAPH.OUTPUT, 'last_hidden_state')]
  if (input === undefined || output === undefined) return null
  const [rows = '', bins = '', frames] = dimensionsOf(model, input)
  const width = dimensionsOf(model, output).at(-1) ?? ''
  const dynamic = [
    valueOf(GRAPH.INPUT, ['input_features', [rows, bins, 'frames']]),
    valueOf(GRAPH.OUTPUT, ['last_hidden_state', [rows, 'positions', width]]),
  ] as const
  return { input, output, dynamic, isFixed: typeof frames === 'number' }
}

/**
 * Rewrites an encoder for windows of up to `positions`. Returns null if it already takes them, or if its structure is
 * unknown. Throws when the bytes are no graph.
 */
export const withShortWindows = (model: Uint8Array, positions: number): Uint8Array | null => {
  const graph = readGraph(model)
  const ports = graph === null ? null : portsOf(model, graph)
  if (graph === null || ports === null) return null
  const { sum, isCut } = positionSumIn(graph, positions)
  if (sum === null && !(isCut && ports.isFixed)) return null
  const rank = graph.constants.get(sum?.constant ?? '')?.dimensions.length ?? 0
  const changed = new Map<Field | undefined, ReadonlyArray<Uint8Array>>([
    [ports.input, [ports.dynamic[0]]],
    [ports.output, [ports.dynamic[1]]],
    [sum?.operation.field, sum === null ? [] : cutSum(sum)],
  ])
  const content = graph.fields.flatMap((field) => {
    // Drops the lengths of intermediate values, which the exporter recorded for the full window.
    if (field.number === GRAPH.VALUE) return []
    return changed.get(field) ?? [model.subarray(field.start, field.end)]
  })
  const constants = [integers(ZERO, [0]), integers(ONE, [1]), integers(TWO, [2]), integers(AXIS, [rank - 2])]
  return Buffer.concat(
    graph.top.map((field) => {
      if (field !== graph.graphField) return model.subarray(field.start, field.end)
      return message(MODEL.GRAPH, ...content, ...(sum === null ? [] : constants))
    }),
  )
}
