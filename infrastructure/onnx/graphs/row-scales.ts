import { floats, MICROSOFT, node, octets, operatorsOf } from './graph-writer.ts'
import { readGraph } from './graph-reader.ts'
import type { Constant, Graph, Operation } from './graph-reader.ts'
import { ELEMENT, GRAPH, message, MODEL } from './onnx-format.ts'
import type { Field } from './onnx-format.ts'

/**
 * Graphs that were quantised dynamically give all activations of a layer one scale for its 8 bits; a few large ones, as
 * Whisper's encoder has many, leave next to nothing for the others. Here each block of a row gets a scale of its own, and
 * convolutions are computed in floats. The weights stay what they are. Measured: decision 43.
 */

/** Activations under one scale: with smaller blocks it takes longer and hears no better. */
const BLOCK = 256
const MICROSOFT_VERSION = 1
/** The products are made of 8 bits too. */
const EIGHT_BITS = 4
const NESTING = new Set(['If', 'Loop', 'Scan'])

/** 8-bit weights of one scale, or of one a column; `product` is the last of the nodes that make floats of the product. */
interface Weighted {
  readonly operation: Operation
  readonly product: Operation
  readonly activations: string
  readonly name: string
  readonly weights: Constant
  /** Unsigned, whatever the weights are in the file. */
  readonly values: Uint8Array
  readonly zeroPoints: Uint8Array
  readonly scales: Float32Array
}

/** Unsigned bytes in the same order: signed ones and their zero points are moved by 128 alike. */
const unsigned = ({ type, bytes }: Constant): Uint8Array => (type === ELEMENT.INT8 ? bytes.map((value) => value ^ 0x80) : bytes)

/** What makes a value, and what alone uses it. */
const neighbours = ({ operations }: Graph) => ({
  maker: (value: string | undefined): Operation | undefined =>
    operations.find(({ outputs }) => value !== undefined && outputs.includes(value)),
  user: (value: string | undefined): Operation | undefined => {
    const users = operations.filter(({ inputs }) => value !== undefined && inputs.includes(value))
    return users.length === 1 ? users[0] : undefined
  },
})

/** Nodes as quantisers write them around an integer product. */
interface Pattern {
  readonly quantisation: Operation
  readonly product: Operation
  readonly scaling: Operation
}

const patternOf = (operation: Operation, graph: Graph): Pattern | null => {
  const { maker, user } = neighbours(graph)
  const quantisation = maker(operation.inputs[0])
  const cast = user(operation.outputs[0])
  const product = user(cast?.outputs[0])
  const scaling = maker(product?.inputs.find((input) => input !== cast?.outputs[0]))
  const types = [quantisation, cast, product, scaling].map((found) => found?.type)
  if (quantisation === undefined || product === undefined || scaling === undefined) return null
  return types.join() === 'DynamicQuantizeLinear,Cast,Mul,Mul' ? { quantisation, product, scaling } : null
}

const isEightBit = ({ type }: Constant): boolean => type === ELEMENT.UINT8 || type === ELEMENT.INT8

/** The weights of an integer product of activations that were quantised for it; null where it is made otherwise. */
const weightedOf = (operation: Operation, graph: Graph): Weighted | null => {
  const pattern = patternOf(operation, graph)
  if (pattern === null) return null
  const { quantisation, product, scaling } = pattern
  const { constants } = graph
  const [, name = '', , zeroPoint = ''] = operation.inputs
  const [weights, zeroPoints] = [constants.get(name), constants.get(zeroPoint)]
  const scales = scaling.inputs.flatMap((input) => constants.get(input) ?? [])[0]
  if (weights === undefined || zeroPoints === undefined || scales?.type !== ELEMENT.FLOAT) return null
  if (!isEightBit(weights) || !isEightBit(zeroPoints)) return null
  // Those of large models may lie beside the file.
  if (weights.bytes.length !== weights.dimensions.reduce((product, length) => product * length, 1)) return null
  return {
    operation, product, name, weights,
    activations: quantisation.inputs[0] ?? '',
    values: unsigned(weights),
    zeroPoints: unsigned(zeroPoints),
    scales: new Float32Array(new Uint8Array(scales.bytes).buffer),
  }
}

const at = <A>(list: { readonly length: number, readonly [index: number]: A }, index: number): A =>
  list[list.length === 1 ? 0 : index] as A

interface Rewritten {
  readonly operation: Uint8Array
  readonly constants: ReadonlyArray<Uint8Array>
}

const [GROUPED, SCALES, ZEROS, FLOATS] = ['grouped', 'scales', 'zeros', 'floats']

/** MatMulNBits: of [rows][columns] weights the columns one after another, in blocks. */
const blockwise = ({ name, weights, values, zeroPoints, scales, activations, product }: Weighted): Rewritten | null => {
  const [rows = 0, columns = 0] = weights.dimensions
  if (weights.dimensions.length !== 2 || ![1, columns].includes(scales.length) || scales.length !== zeroPoints.length) return null
  const blocks = Math.ceil(rows / BLOCK)
  const grouped = new Uint8Array(columns * blocks * BLOCK)
  for (let column = 0; column < columns; column++) {
    const from = column * blocks * BLOCK
    grouped.fill(at(zeroPoints, column), from + rows, from + blocks * BLOCK)
    for (let row = 0; row < rows; row++) grouped[from + row] = values[row * columns + column] ?? 0
  }
  const each = Array.from({ length: columns * blocks }, (_, i) => Math.floor(i / blocks))
  const inputs = [activations, ...[GROUPED, SCALES, ZEROS].map((part) => `${name}_${part}`)]
  const shape = { K: rows, N: columns, bits: 8, block_size: BLOCK, accuracy_level: EIGHT_BITS }
  return {
    operation: node('MatMulNBits', inputs, product.outputs, shape, { domain: MICROSOFT }),
    constants: [
      octets(`${name}_${GROUPED}`, [columns, blocks, BLOCK], grouped),
      floats(`${name}_${SCALES}`, [each.length], new Uint8Array(Float32Array.from(each, (column) => at(scales, column)).buffer)),
      octets(`${name}_${ZEROS}`, [each.length], Uint8Array.from(each, (column) => at(zeroPoints, column))),
    ],
  }
}

const inFloats = ({ name, weights, values, zeroPoints, scales, activations, product, operation }: Weighted): Rewritten | null => {
  const [zeroPoint = 0] = zeroPoints
  const [scale = 0] = scales
  if (zeroPoints.length !== 1 || scales.length !== 1) return null
  const bytes = new Uint8Array(Float32Array.from(values, (value) => (value - zeroPoint) * scale).buffer)
  return {
    operation: node('Conv', [activations, `${name}_${FLOATS}`], product.outputs, {}, { copied: operation.attributes }),
    constants: [floats(`${name}_${FLOATS}`, weights.dimensions, bytes)],
  }
}

const REWRITES: Readonly<Record<string, (weighted: Weighted) => Rewritten | null>> = { MatMulInteger: blockwise, ConvInteger: inFloats }

/** Without those whose results nobody reads any more. */
const needed = (operations: ReadonlyArray<Operation>, wanted: ReadonlyArray<string>): ReadonlyArray<Operation> => {
  const read = new Set([...wanted, ...operations.flatMap(({ inputs }) => inputs)])
  const left = operations.filter(({ outputs }) => outputs.some((output) => read.has(output)))
  return left.length === operations.length ? operations : needed(left, wanted)
}

/** The graph with a scale for each block of activations; null where nothing is to change. Throws on bytes that are no graph. */
export const withRowScales = (model: Uint8Array): Uint8Array | null => {
  const graph = readGraph(model)
  if (graph === null || graph.operations.some(({ type }) => NESTING.has(type))) return null
  const { top, graphField, fields, operations, constants, outputs } = graph

  const rewritten = new Map<Field, Rewritten>()
  const now = new Map(operations.map((operation) => [operation.field, operation]))
  for (const operation of operations) {
    const rewrite = REWRITES[operation.type]
    const weighted = rewrite === undefined ? null : weightedOf(operation, graph)
    const made = weighted === null ? null : rewrite?.(weighted)
    if (weighted === null || made === null || made === undefined) continue
    rewritten.set(weighted.product.field, made)
    now.set(weighted.product.field, { ...weighted.product, inputs: [weighted.activations] })
  }
  if (rewritten.size === 0) return null

  const left = needed([...now.values()], outputs)
  const read = new Set([...outputs, ...left.flatMap(({ inputs }) => inputs)])
  const kept = new Set([
    ...left.map(({ field }) => field),
    ...[...constants].filter(([name]) => read.has(name)).map(([, { field }]) => field),
  ])
  const content = fields
    .filter((field) => kept.has(field) || (field.number !== GRAPH.NODE && field.number !== GRAPH.INITIALIZER))
    .map((field) => rewritten.get(field)?.operation ?? model.subarray(field.start, field.end))
  const added = [...rewritten.values()].flatMap((one) => one.constants)
  return Buffer.concat([
    ...top.map((field) => (field === graphField ? message(MODEL.GRAPH, ...content, ...added) : model.subarray(field.start, field.end))),
    operatorsOf(MICROSOFT, MICROSOFT_VERSION),
  ])
}
