import { node, onnxFile } from './graph-writer.ts'

/** A graph of `layers` matrix products of [size, size], each with a tanh, which bounds the numbers. */
export interface ProbeShape {
  readonly size: number
  readonly layers: number
}

/** Runs in seconds even on a GPU that the CPU emulates. A real GPU spends most of the time on copies. */
export const SMALL_PROBE: ProbeShape = { size: 256, layers: 4 }
/** Has enough arithmetic for its copies: on an H200 it takes less time than on 16 cores, the small graph takes more. */
export const LARGE_PROBE: ProbeShape = { size: 1024, layers: 16 }

/** Encodes the graph: inputs `x` and `weights`, output `y`. */
export const probeGraph = ({ size, layers }: ProbeShape): Uint8Array => {
  const nodes = Array.from({ length: layers }, (_, layer) => [
    node('MatMul', [layer === 0 ? 'x' : `h${layer}`, 'weights'], [`p${layer}`]),
    node('Tanh', [`p${layer}`], [layer === layers - 1 ? 'y' : `h${layer + 1}`]),
  ]).flat()
  const square = [size, size]
  return onnxFile({ nodes, constants: [], inputs: [['x', square], ['weights', square]], outputs: [['y', square]] })
}
