import { readGraph } from './graph-reader.ts'
import type { Graph, Operation } from './graph-reader.ts'
import { GRAPH, message, MODEL } from './onnx-format.ts'

/** A node in the place of others. */
export interface Rewritten {
  /** The last of the others: its output is the new node's. */
  readonly replaced: Operation
  /** What of the old graph the new node reads. */
  readonly reads: ReadonlyArray<string>
  readonly operation: Uint8Array
  readonly constants: ReadonlyArray<Uint8Array>
}

/** Bodies of these see the names of the graph around them. */
const NESTING = new Set(['If', 'Loop', 'Scan'])

/** Without those whose results nobody reads any more. */
const needed = (operations: ReadonlyArray<Operation>, wanted: ReadonlyArray<string>): ReadonlyArray<Operation> => {
  const read = new Set([...wanted, ...operations.flatMap(({ inputs }) => inputs)])
  const left = operations.filter(({ outputs }) => outputs.some((output) => read.has(output)))
  return left.length === operations.length ? operations : needed(left, wanted)
}

/**
 * The graph with what `rewrite` makes of its nodes, without nodes and constants that nothing reads any more; `operators`: sets of them that the new
 * nodes are of. Null where nothing is to change. Throws on bytes that are no graph.
 */
export const rewriteGraph = (
  model: Uint8Array,
  rewrite: (operation: Operation, graph: Graph) => Rewritten | null,
  operators: ReadonlyArray<Uint8Array> = [],
): Uint8Array | null => {
  const graph = readGraph(model)
  if (graph === null || graph.operations.some(({ type }) => NESTING.has(type))) return null
  const { top, graphField, fields, operations, constants, outputs } = graph
  const made = operations.flatMap((operation) => rewrite(operation, graph) ?? [])
  if (made.length === 0) return null

  const rewritten = new Map(made.map((one) => [one.replaced.field, one]))
  const now = operations.map((operation) => ({ ...operation, inputs: rewritten.get(operation.field)?.reads ?? operation.inputs }))
  const left = needed(now, outputs)
  const read = new Set([...outputs, ...left.flatMap(({ inputs }) => inputs)])
  const kept = new Set([
    ...left.map(({ field }) => field),
    ...[...constants].filter(([name]) => read.has(name)).map(([, { field }]) => field),
  ])
  const content = fields
    .filter((field) => kept.has(field) || (field.number !== GRAPH.NODE && field.number !== GRAPH.INITIALIZER))
    .map((field) => rewritten.get(field)?.operation ?? model.subarray(field.start, field.end))
  const added = made.flatMap((one) => one.constants)
  return Buffer.concat([
    ...top.map((field) => (field === graphField ? message(MODEL.GRAPH, ...content, ...added) : model.subarray(field.start, field.end))),
    ...operators,
  ])
}
