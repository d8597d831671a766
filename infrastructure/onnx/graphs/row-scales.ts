import type { Graph, Operation } from './graph-reader.ts'
import { floats, MICROSOFT, node, octets, operatorsOf } from './graph-writer.ts'
import { floatsOf, valueAt, type Weighted, weightedOf } from './integer-products.ts'
import { rewriteGraph, type Rewritten } from './rewrite-graph.ts'

/**
 * Dynamically quantised graphs have one 8-bit scale for all activations of a layer. Whisper's encoder has a few large
 * activations, so the other ones lose nearly all precision. This module gives each block of a row its own scale, and
 * computes convolutions in floats. The weights stay unchanged. Measurements: docs/decisions/0043-one-scale-per-row.md.
 */

/** Activations per scale. Smaller blocks take longer and do not improve the text. */
const BLOCK = 256
const MICROSOFT_VERSION = 1
/** accuracy_level of MatMulNBits: it multiplies 8-bit activations. */
const EIGHT_BITS = 4

const [GROUPED, SCALES, ZEROS] = ['grouped', 'scales', 'zeros']

/** Rewrites a product as MatMulNBits, whose weights are stored column by column in blocks. */
const blockwise = ({ name, weights, values, zeroPoints, scales, activations, product }: Weighted): Rewritten | null => {
  const [rows = 0, columns = 0] = weights.dimensions
  const hasMatchingScales = [1, columns].includes(scales.length) && scales.length === zeroPoints.length
  if (weights.dimensions.length !== 2 || !hasMatchingScales) return null
  const blocks = Math.ceil(rows / BLOCK)
  const grouped = new Uint8Array(columns * blocks * BLOCK)
  for (let column = 0; column < columns; column++) {
    const from = column * blocks * BLOCK
    grouped.fill(valueAt(zeroPoints, column), from + rows, from + blocks * BLOCK)
    for (let row = 0; row < rows; row++) grouped[from + row] = values[row * columns + column] ?? 0
  }
  const columnOfBlock = Array.from({ length: columns * blocks }, (_, i) => Math.floor(i / blocks))
  const blockScales = Float32Array.from(columnOfBlock, (column) => valueAt(scales, column))
  const blockZeros = Uint8Array.from(columnOfBlock, (column) => valueAt(zeroPoints, column))
  const inputs = [activations, ...[GROUPED, SCALES, ZEROS].map((part) => `${name}_${part}`)]
  const shape = { K: rows, N: columns, bits: 8, block_size: BLOCK, accuracy_level: EIGHT_BITS }
  return {
    replaced: product,
    reads: [activations],
    operation: node('MatMulNBits', inputs, product.outputs, shape, { domain: MICROSOFT }),
    constants: [
      octets(`${name}_${GROUPED}`, [columns, blocks, BLOCK], grouped),
      floats(`${name}_${SCALES}`, [columnOfBlock.length], new Uint8Array(blockScales.buffer)),
      octets(`${name}_${ZEROS}`, [columnOfBlock.length], blockZeros),
    ],
  }
}

const convolution = (weighted: Weighted): Rewritten | null =>
  (weighted.scales.length === 1 ? floatsOf(weighted, 'Conv') : null)

const REWRITES: Readonly<Record<string, (weighted: Weighted) => Rewritten | null>> = {
  MatMulInteger: blockwise,
  ConvInteger: convolution,
}

const rewrite = (operation: Operation, graph: Graph): Rewritten | null => {
  const make = REWRITES[operation.type]
  const weighted = make === undefined ? null : weightedOf(operation, graph)
  return weighted === null ? null : (make?.(weighted) ?? null)
}

/** Gives each block of activations its own scale; null if nothing changes. Throws when the bytes are no graph. */
export const withRowScales = (model: Uint8Array): Uint8Array | null =>
  rewriteGraph(model, rewrite, [operatorsOf(MICROSOFT, MICROSOFT_VERSION)])
