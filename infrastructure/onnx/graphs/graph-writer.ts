import { ATTRIBUTE, ELEMENT, GRAPH, message, MODEL, NODE, TENSOR, VALUE, varint } from './onnx-format.ts'

/** Version of the ONNX format that our graphs use. */
const IR_VERSION = 8
const OPSET_VERSION = 16
/** Field numbers of an operator set and of a node, and the types of attributes. */
const [OPSET_DOMAIN, OPSET_NUMBER] = [1, 2]
const DOMAIN = 7
const [ATTRIBUTE_INTEGER, ATTRIBUTE_TEXT, ATTRIBUTE_INTEGERS] = [2, 3, 7]

/** Encodes a field with a non-negative integer. */
export const number = (field: number, value: number): Uint8Array =>
  Uint8Array.of(...varint(field * 8), ...varint(value))

export const text = (field: number, value: string): Uint8Array => message(field, Buffer.from(value))

type Attribute = number | string | ReadonlyArray<number>

const attribute = ([name, value]: readonly [string, Attribute]): Uint8Array => {
  const content =
    typeof value === 'number'
      ? [number(ATTRIBUTE.INTEGER, value), number(ATTRIBUTE.TYPE, ATTRIBUTE_INTEGER)]
      : typeof value === 'string'
        ? [text(ATTRIBUTE.STRING, value), number(ATTRIBUTE.TYPE, ATTRIBUTE_TEXT)]
        : [...value.map((item) => number(ATTRIBUTE.INTEGERS, item)), number(ATTRIBUTE.TYPE, ATTRIBUTE_INTEGERS)]
  return message(NODE.ATTRIBUTE, text(ATTRIBUTE.NAME, name), ...content)
}

/** Domain of onnxruntime's own operators. */
export const MICROSOFT = 'com.microsoft'

/** Encodes a node. An omitted input has an empty name. `copied`: encoded attributes of another graph. */
export const node = (
  type: string,
  inputs: ReadonlyArray<string>,
  outputs: ReadonlyArray<string>,
  attributes: Readonly<Record<string, Attribute>> = {},
  { domain = '', copied = [] }: { readonly domain?: string; readonly copied?: ReadonlyArray<Uint8Array> } = {},
): Uint8Array =>
  message(
    GRAPH.NODE,
    ...inputs.map((name) => text(NODE.INPUT, name)),
    ...outputs.map((name) => text(NODE.OUTPUT, name)),
    text(NODE.TYPE, type),
    ...Object.entries(attributes).map(attribute),
    ...copied,
    ...(domain === '' ? [] : [text(DOMAIN, domain)]),
  )

/**
 * An input or output. A named dimension gets its length when the graph runs. `element`: the type of its numbers, one of
 * ELEMENT; without it 32-bit floats.
 */
export type Value = readonly [name: string, dimensions: ReadonlyArray<number | string>, element?: number]

const [TENSOR_TYPE, SHAPE, DIMENSION, ELEMENT_TYPE] = [1, 2, 1, 1]
const [LENGTH, LENGTH_NAME] = [1, 2]

/** Encodes a graph's input or output. */
export const valueOf = (field: number, [name, dimensions, element = ELEMENT.FLOAT]: Value): Uint8Array => {
  const shape = dimensions.map((length) =>
    message(DIMENSION, typeof length === 'number' ? number(LENGTH, length) : text(LENGTH_NAME, length)),
  )
  const type = message(TENSOR_TYPE, number(ELEMENT_TYPE, element), message(SHAPE, ...shape))
  return message(field, text(VALUE.NAME, name), message(VALUE.TYPE, type))
}

const tensor = (name: string, type: number, dimensions: ReadonlyArray<number>, bytes: Uint8Array): Uint8Array =>
  message(
    GRAPH.INITIALIZER,
    ...dimensions.map((length) => number(TENSOR.DIMENSIONS, length)),
    number(TENSOR.TYPE, type),
    text(TENSOR.NAME, name),
    message(TENSOR.RAW, bytes),
  )

/** Encodes a constant of 32-bit floats, given as little-endian bytes. */
export const floats = (name: string, dimensions: ReadonlyArray<number>, bytes: Uint8Array): Uint8Array =>
  tensor(name, ELEMENT.FLOAT, dimensions, bytes)

/** Encodes a constant of unsigned bytes. */
export const octets = (name: string, dimensions: ReadonlyArray<number>, bytes: Uint8Array): Uint8Array =>
  tensor(name, ELEMENT.UINT8, dimensions, bytes)

/** Encodes a list of 64-bit integers, for instance a shape. */
export const integers = (name: string, values: ReadonlyArray<number>): Uint8Array =>
  tensor(name, ELEMENT.INT64, [values.length], new Uint8Array(BigInt64Array.from(values, BigInt).buffer))

/** Encodes the version of a domain's operators. The domain of ONNX is ''. */
export const operatorsOf = (domain: string, version: number): Uint8Array =>
  message(MODEL.OPSET, ...(domain === '' ? [] : [text(OPSET_DOMAIN, domain)]), number(OPSET_NUMBER, version))

/**
 * Encodes an ONNX file. `nodes` must be in an order in which they can run. `operators`: version of ONNX's operators.
 */
export const onnxFile = (graph: {
  readonly constants: ReadonlyArray<Uint8Array>
  readonly nodes: ReadonlyArray<Uint8Array>
  readonly inputs: ReadonlyArray<Value>
  readonly outputs: ReadonlyArray<Value>
  readonly operators?: number
}): Uint8Array => {
  const inputs = graph.inputs.map((input) => valueOf(GRAPH.INPUT, input))
  const outputs = graph.outputs.map((output) => valueOf(GRAPH.OUTPUT, output))
  const graphMessage = message(
    MODEL.GRAPH,
    ...graph.nodes,
    text(GRAPH.NAME, 'graph'),
    ...graph.constants,
    ...inputs,
    ...outputs,
  )
  const operators = operatorsOf('', graph.operators ?? OPSET_VERSION)
  return Buffer.concat([number(MODEL.IR_VERSION, IR_VERSION), graphMessage, operators])
}
