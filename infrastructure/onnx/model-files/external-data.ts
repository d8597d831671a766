import { type Field, fieldsOf, namesIn } from '../graphs/onnx-format.ts'

/** The messages that lead to a tensor: for each kind, the numbers and the kinds of the fields that matter. */
const CONTENTS = {
  model: { 7: 'graph', 20: 'training', 25: 'function' },
  training: { 1: 'graph', 2: 'graph' },
  function: { 7: 'node', 11: 'attribute' },
  graph: { 1: 'node', 5: 'tensor', 15: 'sparse' },
  node: { 5: 'attribute' },
  attribute: { 5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph', 22: 'sparse', 23: 'sparse' },
  sparse: { 1: 'tensor', 2: 'tensor' },
  tensor: { 13: 'external' },
  external: {},
} as const satisfies Readonly<Record<string, Readonly<Record<number, string>>>>
type Kind = keyof typeof CONTENTS

/** Field numbers of a property of external data. */
const [KEY, VALUE] = [1, 2]
/** Position of the mark of onnxruntime's own format, which is no protocol buffer. */
const [MARK, MARK_AT] = ['ORTM', 4]

const isMessage = (model: Uint8Array, { start }: Field): boolean => (model[start] ?? 0) % 8 === 2

const locationsIn = (model: Uint8Array, kind: Kind, message: Pick<Field, 'from' | 'end'>): ReadonlyArray<string> => {
  const fields = fieldsOf(model, message).filter((field) => isMessage(model, field))
  if (kind === 'external') return namesIn(model, fields, KEY).includes('location') ? namesIn(model, fields, VALUE) : []
  const contents: Readonly<Record<number, Kind>> = CONTENTS[kind]
  return fields.flatMap((field) => {
    const content = contents[field.number]
    return content === undefined ? [] : locationsIn(model, content, field)
  })
}

/**
 * Returns the places outside of the file from which a model wants values, for tensors anywhere in it: constants, nodes,
 * nested graphs and functions. It also returns places that onnxruntime may ignore. Throws when the bytes are no model.
 */
export const externalLocations = (model: Uint8Array): ReadonlySet<string> => {
  if (Buffer.from(model.subarray(MARK_AT, MARK_AT + MARK.length)).toString('latin1') === MARK)
    throw new Error('it is in the format of onnxruntime and not in that of ONNX')
  return new Set(locationsIn(model, 'model', { from: 0, end: model.length }))
}
