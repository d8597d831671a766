import { floats, MICROSOFT, node, octets, operatorsOf } from './graph-writer.ts'
import { ELEMENT, fieldsOf, GRAPH, message, MODEL, namesIn, NODE, TENSOR, VALUE, varintsIn } from './onnx-format.ts'
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

interface Constant {
  readonly field: Field
  readonly type: number
  readonly dimensions: ReadonlyArray<number>
  /** As they lie in the file: bytes of a little-endian machine. */
  readonly bytes: Uint8Array
}

interface Operation {
  readonly field: Field
  readonly type: string
  readonly inputs: ReadonlyArray<string>
  readonly outputs: ReadonlyArray<string>
  readonly attributes: ReadonlyArray<Uint8Array>
}

const constantOf = (model: Uint8Array, field: Field): readonly [name: string, constant: Constant] => {
  const parts = fieldsOf(model, field)
  const content = parts.find(({ number }) => number === TENSOR.RAW || number === TENSOR.FLOATS)
  const bytes = content === undefined
    ? Uint8Array.from(varintsIn(model, parts, TENSOR.INTEGERS))
    : model.subarray(content.from, content.end)
  const [type = 0] = varintsIn(model, parts, TENSOR.TYPE)
  const [name = ''] = namesIn(model, parts, TENSOR.NAME)
  return [name, { field, type, dimensions: varintsIn(model, parts, TENSOR.DIMENSIONS), bytes }]
}

const operationOf = (model: Uint8Array, field: Field): Operation => {
  const parts = fieldsOf(model, field)
  return {
    field,
    type: namesIn(model, parts, NODE.TYPE)[0] ?? '',
    inputs: namesIn(model, parts, NODE.INPUT),
    outputs: namesIn(model, parts, NODE.OUTPUT),
    attributes: parts.filter(({ number }) => number === NODE.ATTRIBUTE).map(({ start, end }) => model.subarray(start, end)),
  }
}

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

/** The weights of an integer product of activations that were quantised for it; null where it is made otherwise. */
const weightedOf = (operation: Operation, operations: ReadonlyArray<Operation>, constants: ReadonlyMap<string, Constant>): Weighted | null => {
  const only = <A>(items: ReadonlyArray<A>): A | undefined => (items.length === 1 ? items[0] : undefined)
  const user = (output: string | undefined): Operation | undefined =>
    only(operations.filter(({ inputs }) => output !== undefined && inputs.includes(output)))
  const maker = (input: string | undefined): Operation | undefined =>
    operations.find(({ outputs }) => input !== undefined && outputs.includes(input))

  const [quantised, name = '', , zeroPoint = ''] = operation.inputs
  const [weights, zeroPoints] = [constants.get(name), constants.get(zeroPoint)]
  const activations = maker(quantised)
  const cast = user(operation.outputs[0])
  const product = user(cast?.outputs[0])
  const scaling = maker(product?.inputs.find((input) => input !== cast?.outputs[0]))
  const scales = scaling?.inputs.flatMap((input) => constants.get(input) ?? [])[0]
  if (weights === undefined || zeroPoints === undefined || product === undefined || scales === undefined) return null
  const isKnown = activations?.type === 'DynamicQuantizeLinear' && cast?.type === 'Cast' && product.type === 'Mul' && scaling?.type === 'Mul'
  const isEightBit = [weights, zeroPoints].every(({ type }) => type === ELEMENT.UINT8 || type === ELEMENT.INT8)
  if (!isKnown || !isEightBit || scales.type !== ELEMENT.FLOAT) return null
  return {
    operation, product, name, weights,
    activations: activations.inputs[0] ?? '',
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
  const top = fieldsOf(model, { from: 0, end: model.length })
  const graphField = top.find(({ number }) => number === MODEL.GRAPH)
  if (graphField === undefined) return null
  const graph = fieldsOf(model, graphField)
  const operations = graph.filter(({ number }) => number === GRAPH.NODE).map((field) => operationOf(model, field))
  if (operations.some(({ type }) => NESTING.has(type))) return null
  const constants = new Map(graph.filter(({ number }) => number === GRAPH.INITIALIZER).map((field) => constantOf(model, field)))

  const rewritten = new Map<Field, Rewritten>()
  const now = new Map(operations.map((operation) => [operation.field, operation]))
  for (const operation of operations) {
    const rewrite = REWRITES[operation.type]
    const weighted = rewrite === undefined ? null : weightedOf(operation, operations, constants)
    const made = weighted === null ? null : rewrite?.(weighted)
    if (weighted === null || made === null || made === undefined) continue
    rewritten.set(weighted.product.field, made)
    now.set(weighted.product.field, { ...weighted.product, inputs: [weighted.activations] })
  }
  if (rewritten.size === 0) return null

  const outputs = graph.filter(({ number }) => number === GRAPH.OUTPUT).flatMap((field) => namesIn(model, fieldsOf(model, field), VALUE.NAME))
  const left = needed([...now.values()], outputs)
  const read = new Set([...outputs, ...left.flatMap(({ inputs }) => inputs)])
  const unread = [...constants].filter(([name]) => !read.has(name)).map(([, { field }]) => field)
  const removed = new Set([...unread, ...operations.map(({ field }) => field).filter((field) => !left.includes(now.get(field) as Operation))])
  const content = graph.filter((field) => !removed.has(field)).map((field) => rewritten.get(field)?.operation ?? model.subarray(field.start, field.end))
  const added = [...rewritten.values()].flatMap((one) => one.constants)
  return Buffer.concat([
    ...top.map((field) => (field === graphField ? message(MODEL.GRAPH, ...content, ...added) : model.subarray(field.start, field.end))),
    operatorsOf(MICROSOFT, MICROSOFT_VERSION),
  ])
}
