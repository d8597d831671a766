import { type Field, fieldsOf, GRAPH, MODEL, namesIn, NODE, TENSOR, VALUE, varintsIn } from './onnx-format.ts'

/** A tensor whose values are in the file. */
export interface Constant {
  readonly field: Field
  readonly type: number
  readonly dimensions: ReadonlyArray<number>
  /** Little-endian bytes, as in the file. */
  readonly bytes: Uint8Array
}

export interface Operation {
  readonly field: Field
  readonly type: string
  readonly inputs: ReadonlyArray<string>
  readonly outputs: ReadonlyArray<string>
  readonly attributes: ReadonlyArray<Uint8Array>
}

export interface Graph {
  /** Fields of the model. */
  readonly top: ReadonlyArray<Field>
  readonly graphField: Field
  readonly fields: ReadonlyArray<Field>
  readonly operations: ReadonlyArray<Operation>
  readonly constants: ReadonlyMap<string, Constant>
  readonly outputs: ReadonlyArray<string>
}

const constantOf = (model: Uint8Array, field: Field): readonly [name: string, constant: Constant] => {
  const parts = fieldsOf(model, field)
  const content = parts.find(({ number }) => number === TENSOR.RAW || number === TENSOR.FLOATS)
  const bytes =
    content === undefined
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
    attributes: parts
      .filter(({ number }) => number === NODE.ATTRIBUTE)
      .map(({ start, end }) => model.subarray(start, end)),
  }
}

/** Reads the graph of a model file; null without a graph. Throws when the bytes are no protocol buffer. */
export const readGraph = (model: Uint8Array): Graph | null => {
  const top = fieldsOf(model, { from: 0, end: model.length })
  const graphField = top.find(({ number }) => number === MODEL.GRAPH)
  if (graphField === undefined) return null
  const fields = fieldsOf(model, graphField)
  const fieldsWith = (wanted: number): ReadonlyArray<Field> => fields.filter(({ number }) => number === wanted)
  return {
    top,
    graphField,
    fields,
    operations: fieldsWith(GRAPH.NODE).map((field) => operationOf(model, field)),
    constants: new Map(fieldsWith(GRAPH.INITIALIZER).map((field) => constantOf(model, field))),
    outputs: fieldsWith(GRAPH.OUTPUT).flatMap((field) => namesIn(model, fieldsOf(model, field), VALUE.NAME)),
  }
}

/** Field numbers of a value's type, its shape and its dimensions. */
const [TENSOR_TYPE, SHAPE, DIMENSION] = [1, 2, 1]
const [LENGTH, LENGTH_NAME] = [1, 2]

/** Returns the dimensions of an input or output: a number for a fixed dimension, else its name. */
export const dimensionsOf = (model: Uint8Array, port: Field): ReadonlyArray<number | string> => {
  const within = (fields: ReadonlyArray<Field>, wanted: number): ReadonlyArray<Field> =>
    fields.filter(({ number }) => number === wanted).flatMap((field) => fieldsOf(model, field))
  const type = within(within(fieldsOf(model, port), VALUE.TYPE), TENSOR_TYPE)
  return within(type, SHAPE).flatMap((field) => {
    if (field.number !== DIMENSION) return []
    const parts = fieldsOf(model, field)
    return [varintsIn(model, parts, LENGTH)[0] ?? namesIn(model, parts, LENGTH_NAME)[0] ?? '']
  })
}
