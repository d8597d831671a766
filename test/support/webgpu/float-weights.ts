import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { floats, node } from '../../../infrastructure/onnx/graphs/graph-writer.ts'
import type { Graph, Operation } from '../../../infrastructure/onnx/graphs/graph-reader.ts'
import { floatsOf, weightedOf } from '../../../infrastructure/onnx/graphs/integer-products.ts'
import { rewriteGraph, type Rewritten } from '../../../infrastructure/onnx/graphs/rewrite-graph.ts'

/** Rewrites the dequantised rows of an 8-bit table as rows of a float table. */
const tableOf = (operation: Operation, { operations, constants }: Graph): Rewritten | null => {
  const [gathered, scaleName = '', zeroName = ''] = operation.inputs
  const gather = operations.find(({ type, outputs }) => type === 'Gather' && outputs[0] === gathered)
  const [name = '', rows = ''] = gather?.inputs ?? []
  const [table, scales, zero] = [name, scaleName, zeroName].map((each) => constants.get(each))
  if (gather === undefined || table === undefined || scales === undefined || zero === undefined) return null
  const [scale = 0] = new Float32Array(new Uint8Array(scales.bytes).buffer)
  const numbers = Float32Array.from(table.bytes, (value) => (value - (zero.bytes[0] ?? 0)) * scale)
  return {
    replaced: operation,
    reads: [rows],
    operation: node('Gather', [`${name}_table`, rows], operation.outputs, {}, { copied: gather.attributes }),
    constants: [floats(`${name}_table`, table.dimensions, new Uint8Array(numbers.buffer))],
  }
}

const PRODUCTS = { MatMulInteger: 'MatMul', ConvInteger: 'Conv' } as const

const rewrite = (operation: Operation, graph: Graph): Rewritten | null => {
  if (operation.type === 'DequantizeLinear') return tableOf(operation, graph)
  if (operation.type !== 'MatMulInteger' && operation.type !== 'ConvInteger') return null
  const weighted = weightedOf(operation, graph)
  if (weighted === null) throw new Error(`${operation.outputs[0]} is quantised in an unknown way`)
  return floatsOf(weighted, PRODUCTS[operation.type])
}

const QUANTISED = '_quantized.onnx'

/** Copies a model's folder to `to` with its 8-bit weights as floats of equal value. */
export const withFloatWeights = async (folder: string, to: string): Promise<void> => {
  await cp(folder, to, { recursive: true, filter: (path) => !path.endsWith(QUANTISED) })
  await mkdir(join(to, 'onnx'), { recursive: true })
  for (const file of await readdir(join(folder, 'onnx'))) {
    const graph = rewriteGraph(await readFile(join(folder, 'onnx', file)), rewrite)
    if (graph === null) throw new Error(`${file} has no 8-bit weights`)
    await writeFile(join(to, 'onnx', `${basename(file, QUANTISED)}.onnx`), graph)
  }
}
