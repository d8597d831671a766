import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type Field, fieldsOf, GRAPH, MODEL, namesIn, readVarint, VALUE } from './onnx-format.ts'

/** The longest head of a field: two integers of variable length. */
const HEAD_BYTES = 20

/** Returns the names of a graph's outputs. Reads only the heads of its fields, because the file may be large. */
export const outputNamesOf = (file: string): ReadonlyArray<string> => {
  const descriptor = openSync(file, 'r')
  const bytesAt = (at: number, length: number): Uint8Array => {
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, at))
  }
  /** Every top-level field of a model that matters, and every field of a graph, has a length. */
  const fieldAt = (at: number): Field => {
    const head = bytesAt(at, HEAD_BYTES)
    const [tag, next] = readVarint(head, 0)
    const [value, from] = readVarint(head, next)
    return { number: Math.floor(tag / 8), start: at, from: at + from, end: at + from + (tag % 8 === 2 ? value : 0) }
  }
  try {
    const fieldsIn = (from: number, end: number, wanted: number): ReadonlyArray<Field> => {
      const fields: Array<Field> = []
      for (let at = from; at < end;) {
        const field = fieldAt(at)
        if (field.number === wanted) fields.push(field)
        at = field.end
      }
      return fields
    }
    const [graph] = fieldsIn(0, fstatSync(descriptor).size, MODEL.GRAPH)
    if (graph === undefined) return []
    return fieldsIn(graph.from, graph.end, GRAPH.OUTPUT).flatMap(({ from, end }) => {
      const output = bytesAt(from, end - from)
      return namesIn(output, fieldsOf(output, { from: 0, end: output.length }), VALUE.NAME)
    })
  } finally {
    closeSync(descriptor)
  }
}
