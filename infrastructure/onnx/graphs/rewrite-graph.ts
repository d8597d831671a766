import { type Graph, type Operation, readGraph } from './graph-reader.ts'
import { GRAPH, message, MODEL } from './onnx-format.ts'

/** A node that replaces other nodes. */
export interface Rewritten {
  /** The last replaced node, whose output the new node writes. */
  readonly replaced: Operation
  /** Values of the old graph that the new node reads. */
  readonly reads: ReadonlyArray<string>
  readonly operation: Uint8Array
  readonly constants: ReadonlyArray<Uint8Array>
}

/** The bodies of these operators can read values of the outer graph. */
const NESTING = new Set(['If', 'Loop', 'Scan'])

/** Removes operations whose results are not read, neither by an operation nor as an output of the graph. */
const withoutUnused = (
  operations: ReadonlyArray<Operation>,
  graphOutputs: ReadonlyArray<string>,
): ReadonlyArray<Operation> => {
  const read = new Set([...graphOutputs, ...operations.flatMap(({ inputs }) => inputs)])
  const used = operations.filter(({ outputs }) => outputs.some((output) => read.has(output)))
  return used.length === operations.length ? operations : withoutUnused(used, graphOutputs)
}

/**
 * Replaces nodes of a graph and removes unused nodes and constants. Returns null if nothing changes. Throws when the
 * bytes are no graph.
 *
 * @param operators encoded operator sets of the new nodes
 */
export const rewriteGraph = (
  model: Uint8Array,
  rewrite: (operation: Operation, graph: Graph) => Rewritten | null,
  operators: ReadonlyArray<Uint8Array> = [],
): Uint8Array | null => {
  const graph = readGraph(model)
  if (graph === null || graph.operations.some(({ type }) => NESTING.has(type))) return null
  const { top, graphField, fields, operations, constants, outputs } = graph
  const replacements = operations.flatMap((operation) => rewrite(operation, graph) ?? [])
  if (replacements.length === 0) return null

  const rewritten = new Map(replacements.map((replacement) => [replacement.replaced.field, replacement]))
  const updated = operations.map((operation) => {
    const inputs = rewritten.get(operation.field)?.reads ?? operation.inputs
    return { ...operation, inputs }
  })
  const used = withoutUnused(updated, outputs)
  const read = new Set([...outputs, ...used.flatMap(({ inputs }) => inputs)])
  const kept = new Set([
    ...used.map(({ field }) => field),
    ...[...constants].filter(([name]) => read.has(name)).map(([, { field }]) => field),
  ])
  const content = fields
    .filter((field) => kept.has(field) || (field.number !== GRAPH.NODE && field.number !== GRAPH.INITIALIZER))
    .map((field) => rewritten.get(field)?.operation ?? model.subarray(field.start, field.end))
  const added = replacements.flatMap((replacement) => replacement.constants)
  return Buffer.concat([
    ...top.map((field) =>
      field === graphField ? message(MODEL.GRAPH, ...content, ...added) : model.subarray(field.start, field.end),
    ),
    ...operators,
  ])
}
