import { node, onnxFile } from './graph-writer.ts'

/**
 * The graph that a GPU has to run before it is trusted with a model, as the bytes of an ONNX file: LAYERS times a matrix product and
 * a tanh, which keeps the numbers within bounds. Small: a GPU that is drawn by the CPU takes a thousand times as long as a
 * real one.
 */
export const PROBE_SIZE = 256
const LAYERS = 4

/** Inputs `x` and `weights`, output `y`, each [PROBE_SIZE, PROBE_SIZE]. */
export const probeGraph = (): Uint8Array => {
  const nodes = Array.from({ length: LAYERS }, (_, layer) => [
    node('MatMul', [layer === 0 ? 'x' : `h${layer}`, 'weights'], [`p${layer}`]),
    node('Tanh', [`p${layer}`], [layer === LAYERS - 1 ? 'y' : `h${layer + 1}`]),
  ]).flat()
  const square = [PROBE_SIZE, PROBE_SIZE]
  return onnxFile({ nodes, constants: [], inputs: [['x', square], ['weights', square]], outputs: [['y', square]] })
}
