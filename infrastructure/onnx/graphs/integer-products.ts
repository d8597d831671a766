import type { Constant, Graph, Operation } from './graph-reader.ts'
import { floats, node } from './graph-writer.ts'
import { ELEMENT } from './onnx-format.ts'
import type { Rewritten } from './rewrite-graph.ts'

/** An integer product with 8-bit weights. The weights have one scale, or one scale per column. */
export interface Weighted {
  readonly operation: Operation
  /** The last node that converts the result to floats. */
  readonly product: Operation
  /** Name of the activations before their quantisation. */
  readonly activations: string
  readonly name: string
  readonly weights: Constant
  /** Unsigned values, also if the file has signed ones. */
  readonly values: Uint8Array
  readonly zeroPoints: Uint8Array
  readonly scales: Float32Array
}

/** Converts signed bytes to unsigned bytes by adding 128. Zero points change by the same amount. */
const unsigned = ({ type, bytes }: Constant): Uint8Array =>
  type === ELEMENT.INT8 ? bytes.map((value) => value ^ 0x80) : bytes

/** Finds the node that writes a value, and its only reader. */
const neighbours = ({ operations }: Graph) => ({
  maker: (value: string | undefined): Operation | undefined =>
    operations.find(({ outputs }) => value !== undefined && outputs.includes(value)),
  user: (value: string | undefined): Operation | undefined => {
    const users = operations.filter(({ inputs }) => value !== undefined && inputs.includes(value))
    return users.length === 1 ? users[0] : undefined
  },
})

/** The nodes that quantisers write around an integer product. */
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

/** Returns the weights of an integer product of quantised activations; null for another pattern of nodes. */
export const weightedOf = (operation: Operation, graph: Graph): Weighted | null => {
  const pattern = patternOf(operation, graph)
  if (pattern === null) return null
  const { quantisation, product, scaling } = pattern
  const { constants } = graph
  const [, name = '', , zeroPoint = ''] = operation.inputs
  const [weights, zeroPoints] = [constants.get(name), constants.get(zeroPoint)]
  const scales = scaling.inputs.flatMap((input) => constants.get(input) ?? [])[0]
  if (weights === undefined || zeroPoints === undefined || scales?.type !== ELEMENT.FLOAT) return null
  if (!isEightBit(weights) || !isEightBit(zeroPoints)) return null
  // Weights of large models may be in a separate file.
  if (weights.bytes.length !== weights.dimensions.reduce((total, length) => total * length, 1)) return null
  return {
    operation,
    product,
    name,
    weights,
    activations: quantisation.inputs[0] ?? '',
    values: unsigned(weights),
    zeroPoints: unsigned(zeroPoints),
    scales: new Float32Array(new Uint8Array(scales.bytes).buffer),
  }
}

/** Reads a list with one value per index, or with a single value for all. */
export const valueAt = <A>(list: { readonly length: number; readonly [index: number]: A }, index: number): A =>
  list[list.length === 1 ? 0 : index] as A

/** Rewrites a product to unquantised activations and weights in floats; null if scales and zero points do not match. */
export const floatsOf = (
  { name, weights, values, zeroPoints, scales, activations, product, operation }: Weighted,
  type: 'Conv' | 'MatMul',
): Rewritten | null => {
  if (zeroPoints.length !== scales.length) return null
  const numbers = Float32Array.from(
    values,
    (value, i) => (value - valueAt(zeroPoints, i % zeroPoints.length)) * valueAt(scales, i % scales.length),
  )
  return {
    replaced: product,
    reads: [activations],
    operation: node(type, [activations, `${name}_floats`], product.outputs, {}, { copied: operation.attributes }),
    constants: [floats(`${name}_floats`, weights.dimensions, new Uint8Array(numbers.buffer))],
  }
}
