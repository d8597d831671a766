import { node, onnxFile } from './graph-writer.ts'

/**
 * Size of the graph that tests a GPU: LAYERS times a matrix product and a tanh, which bounds the numbers. It is small,
 * because a GPU that the CPU emulates takes a thousand times as long as a real GPU.
 */
export const PROBE_SIZE = 256
const LAYERS = 4

/** Encodes the graph: inputs `x` and `weights`, output `y`, each [PROBE_SIZE, PROBE_SIZE]. */
export const probeGraph = (): Uint8Array => {
  const nodes = Array.from({ length: LAYERS }, (_, layer) => [
    node('MatMul', [layer === 0 ? 'x' : `h${layer}`, 'weights'], [`p${layer}`]),
    node('Tanh', [`p${layer}`], [layer === LAYERS - 1 ? 'y' : `h${layer + 1}`]),
  ]).flat()
  const square = [PROBE_SIZE, PROBE_SIZE]
  return onnxFile({ nodes, constants: [], inputs: [['x', square], ['weights', square]], outputs: [['y', square]] })
}
