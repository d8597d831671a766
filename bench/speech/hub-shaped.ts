import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fieldsOf, GRAPH, message, MODEL, namesIn, VALUE } from '../../infrastructure/onnx/graphs/onnx-format.ts'
import { valueOf } from '../../infrastructure/onnx/graphs/graph-writer.ts'

/** Frames of a window of 30 s, the only length that the hub's encoders take. */
const FRAMES = 3000

/** The graph with this input of these dimensions, and without outputs whose names fit. */
const reshaped = (model: Uint8Array, input: string, dimensions: ReadonlyArray<number | string>, without: RegExp): Uint8Array => {
  const top = fieldsOf(model, { from: 0, end: model.length })
  const content = top.map((part) => {
    if (part.number !== MODEL.GRAPH) return model.subarray(part.start, part.end)
    const fields = fieldsOf(model, part).flatMap((field) => {
      const isPort = field.number === GRAPH.INPUT || field.number === GRAPH.OUTPUT
      const [name = ''] = isPort ? namesIn(model, fieldsOf(model, field), VALUE.NAME) : []
      if (field.number === GRAPH.OUTPUT && without.test(name)) return []
      if (field.number === GRAPH.INPUT && name === input) return [valueOf(GRAPH.INPUT, [input, dimensions])]
      return [model.subarray(field.start, field.end)]
    })
    return message(MODEL.GRAPH, ...fields)
  })
  return Buffer.concat(content)
}

/** A copy of a Whisper as most of the hub's exports are: windows of 30 s alone, and no cross-attentions. */
export const hubShapedCopy = async (folder: string): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> => {
  const copy = await mkdtemp(join(tmpdir(), 'stenolog-hub-shaped-'))
  const { num_mel_bins: bins } = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as { readonly num_mel_bins: number }
  await mkdir(join(copy, 'onnx'))
  for (const name of await readdir(folder)) if (name !== 'onnx') await cp(join(folder, name), join(copy, name))
  for (const name of await readdir(join(folder, 'onnx'))) {
    const graph = await readFile(join(folder, 'onnx', name))
    await writeFile(join(copy, 'onnx', name), reshaped(graph, 'input_features', ['batch', bins, FRAMES], /^cross_attentions\./))
  }
  return { folder: copy, remove: () => rm(copy, { recursive: true }) }
}
