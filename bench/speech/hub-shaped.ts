import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dimensionsOf, readGraph } from '../../infrastructure/onnx/graphs/graph-reader.ts'
import { node, valueOf } from '../../infrastructure/onnx/graphs/graph-writer.ts'
import { fieldsOf, GRAPH, message, MODEL, namesIn, VALUE } from '../../infrastructure/onnx/graphs/onnx-format.ts'

/** Changes an encoder graph so that it accepts only `positions` positions, and removes cross-attention outputs. */
export const fixedTo = (model: Uint8Array, positions: number): Uint8Array => {
  const graph = readGraph(model)
  if (graph === null) throw new Error('the file is not an ONNX graph')
  const { operations, constants } = graph
  const isLong = (value = ''): boolean => constants.get(value)?.dimensions[0] === positions
  const cut = operations.find(({ type, inputs: [value] }) => type === 'Slice' && isLong(value))
  const sum = operations.find(({ inputs }) => inputs.includes(cut?.outputs[0] ?? ''))
  const fields = graph.fields.flatMap((field) => {
    if (field === cut?.field) return []
    if (field === sum?.field) {
      const uncut = sum.inputs.map((input) => (input === cut?.outputs[0] ? (cut.inputs[0] ?? '') : input))
      return [node(sum.type, uncut, sum.outputs)]
    }
    const isPort = field.number === GRAPH.INPUT || field.number === GRAPH.OUTPUT
    const [name = ''] = isPort ? namesIn(model, fieldsOf(model, field), VALUE.NAME) : []
    if (name.startsWith('cross_attentions.')) return []
    if (name !== 'input_features') return [model.subarray(field.start, field.end)]
    const [rows = '', bins = ''] = dimensionsOf(model, field)
    return [valueOf(GRAPH.INPUT, [name, [rows, bins, 2 * positions]])]
  })
  return Buffer.concat(graph.top.map((part) =>
    part === graph.graphField ? message(MODEL.GRAPH, ...fields) : model.subarray(part.start, part.end)))
}

/** Copies a Whisper model in the shape of most hub exports: with full windows only, and without cross-attentions. */
export const hubShapedCopy = async (
  folder: string,
): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> => {
  const copy = await mkdtemp(join(tmpdir(), 'stenolog-hub-shaped-'))
  const config = await readFile(join(folder, 'config.json'), 'utf8')
  const { max_source_positions: positions } = JSON.parse(config) as { readonly max_source_positions: number }
  await mkdir(join(copy, 'onnx'))
  for (const name of await readdir(folder)) if (name.endsWith('.json')) await cp(join(folder, name), join(copy, name))
  for (const name of await readdir(join(folder, 'onnx'))) {
    const graph = await readFile(join(folder, 'onnx', name))
    await writeFile(join(copy, 'onnx', name), fixedTo(graph, positions))
  }
  return { folder: copy, remove: () => rm(copy, { recursive: true }) }
}
