import { node, number, octets, onnxFile, text } from '../../../infrastructure/onnx/graphs/graph-writer.ts'
import {
  ATTRIBUTE, ELEMENT, fieldsOf, GRAPH, message, MODEL, NODE, TENSOR, type Field,
} from '../../../infrastructure/onnx/graphs/onnx-format.ts'

/** Name of the ONNX file of these graphs. */
export const GRAPH_NAME = 'graph.onnx'

const [KEY, VALUE] = [1, 2]
const [ATTRIBUTE_TENSOR, EXTERNAL, INT32] = [4, 1, 6]

const entry = (key: string, value: string): Uint8Array =>
  message(TENSOR.EXTERNAL_DATA, text(KEY, key), text(VALUE, value))

/** Encodes the content of a tensor of bytes that is in the file `location`. */
export const externalTensor = (location: string, length: number): Uint8Array =>
  Buffer.concat([
    number(TENSOR.DIMENSIONS, length),
    number(TENSOR.TYPE, ELEMENT.UINT8),
    text(TENSOR.NAME, 'weights'),
    entry('location', location),
    entry('offset', '0'),
    entry('length', String(length)),
    number(TENSOR.LOCATION, EXTERNAL),
  ])

/** A part of a graph that yields `weights`, and their length. */
interface Part {
  readonly constants: ReadonlyArray<Uint8Array>
  readonly nodes: ReadonlyArray<Uint8Array>
  readonly length: number
}

export const initializer = (location: string, length: number): Part =>
  ({ constants: [message(GRAPH.INITIALIZER, externalTensor(location, length))], nodes: [], length })

const constantWith = (tensor: Uint8Array): Uint8Array =>
  message(
    GRAPH.NODE,
    text(NODE.OUTPUT, 'weights'),
    text(NODE.TYPE, 'Constant'),
    message(
      NODE.ATTRIBUTE,
      text(ATTRIBUTE.NAME, 'value'),
      message(ATTRIBUTE.TENSOR, tensor),
      number(ATTRIBUTE.TYPE, ATTRIBUTE_TENSOR),
    ),
  )

export const constantNode = (location: string, length: number): Part =>
  ({ constants: [], nodes: [constantWith(externalTensor(location, length))], length })

/** A product of 8-bit integers, which the engine rewrites on many CPUs. */
const PRODUCT = ['a', 'b', 'zero_of_a', 'zero_of_b']
const factors = PRODUCT.map((name) => octets(name, name.startsWith('zero') ? [] : [1, 1], Uint8Array.of(1)))

/** Encodes a model that returns the weights as `y`. */
export const externalGraph = ({ constants, nodes, length }: Part): Uint8Array =>
  onnxFile({
    constants: [...constants, ...factors],
    nodes: [...nodes, node('Identity', ['weights'], ['y']), node('MatMulInteger', PRODUCT, ['product'])],
    inputs: [],
    outputs: [['y', [length], ELEMENT.UINT8], ['product', [1, 1], INT32]],
  })

/**
 * Moves the values of a graph's constants into a file `location`, as exports with more than 2 GB do. Returns the new
 * graph and the content of that file.
 */
export const withWeightsIn = (model: Uint8Array, location: string) => {
  const moved: Array<Uint8Array> = []
  let offset = 0
  const content = (field: Field): Uint8Array => model.subarray(field.start, field.end)
  const moveOut = (field: Field): Uint8Array => {
    const parts = fieldsOf(model, field)
    const raw = parts.find((part) => part.number === TENSOR.RAW)
    // onnxruntime wants small constants, such as shapes, in the graph.
    if (raw === undefined || raw.end - raw.from < 128) return content(field)
    moved.push(model.subarray(raw.from, raw.end))
    const place = { location, offset: String(offset), length: String(raw.end - raw.from) }
    offset += raw.end - raw.from
    return message(
      GRAPH.INITIALIZER,
      ...parts.filter((part) => part !== raw).map(content),
      ...Object.entries(place).map(([key, value]) => entry(key, value)),
      number(TENSOR.LOCATION, EXTERNAL),
    )
  }
  const inGraph = (field: Field): Uint8Array => (field.number === GRAPH.INITIALIZER ? moveOut(field) : content(field))
  const graph = fieldsOf(model, { from: 0, end: model.length }).map((field) =>
    field.number === MODEL.GRAPH ? message(MODEL.GRAPH, ...fieldsOf(model, field).map(inGraph)) : content(field),
  )
  return { graph: Buffer.concat(graph), data: Buffer.concat(moved) }
}

/** Models with the tensor at each place where the format of ONNX has tensors. */
export const EVERYWHERE = (tensor: Uint8Array): Readonly<Record<string, Uint8Array>> => {
  const inGraph = (...content: ReadonlyArray<Uint8Array>): Uint8Array => message(MODEL.GRAPH, ...content)
  const inAttribute = (field: number, ...content: ReadonlyArray<Uint8Array>): Uint8Array =>
    inGraph(message(GRAPH.NODE, message(NODE.ATTRIBUTE, message(field, ...content))))
  const constant = message(GRAPH.INITIALIZER, tensor)
  return {
    'a constant': inGraph(constant),
    'values of a sparse constant': inGraph(message(15, message(1, tensor))),
    'indices of a sparse constant': inGraph(message(15, message(2, tensor))),
    'a second graph, which decoders join to the first': Buffer.concat([inGraph(), inGraph(constant)]),
    'an attribute': inAttribute(5, tensor),
    'a list of tensors': inAttribute(10, tensor),
    'a sparse attribute': inAttribute(22, message(1, tensor)),
    'a list of sparse tensors': inAttribute(23, message(2, tensor)),
    'a branch': inAttribute(6, constant),
    'a node of a branch of a branch': inAttribute(
      6, message(GRAPH.NODE, message(NODE.ATTRIBUTE, message(6, constantWith(tensor)))),
    ),
    'a list of graphs': inAttribute(11, constant),
    'a function': message(25, message(7, message(NODE.ATTRIBUTE, message(5, tensor)))),
    'a default of a function': message(25, message(11, message(5, tensor))),
    'the initial values of a training': message(20, message(1, constant)),
    'a step of a training': message(20, message(2, constant)),
  }
}
