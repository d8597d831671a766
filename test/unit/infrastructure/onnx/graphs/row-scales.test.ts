import { readFile } from 'node:fs/promises'
import test from 'ava'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { floats, node, octets, onnxFile } from '../../../../../infrastructure/onnx/graphs/graph-writer.ts'
import { withRowScales } from '../../../../../infrastructure/onnx/graphs/row-scales.ts'

const [ROWS, COLUMNS] = [300, 8]
const FLOAT = 1

const f32 = (values: ReadonlyArray<number>): Uint8Array => new Uint8Array(Float32Array.from(values).buffer)

/**
 * Returns a quantised graph with one product. `columns`: number of scales and zero points of the weights, either 1 or
 * one for each column. `size`: bytes of weights that the graph itself contains.
 */
const quantised = (
  kind: 'MatMulInteger' | 'ConvInteger', shape: ReadonlyArray<number>, columns: number,
  size = shape.reduce((product, length) => product * length, 1),
): Uint8Array => {
  const each = columns === 1 ? [] : [columns]
  return onnxFile({
    constants: [
      octets('w', shape, Uint8Array.from({ length: size }, (_, i) => (i * 7919) % 256)),
      octets('w_zero', each, Uint8Array.from({ length: columns }, (_, i) => 120 + i)),
      floats('w_scale', each, f32(Array.from({ length: columns }, (_, i) => (i + 1) / 1000))),
    ],
    nodes: [
      node('DynamicQuantizeLinear', ['x'], ['q', 'q_scale', 'q_zero']),
      node(kind, ['q', 'w', 'q_zero', 'w_zero'], ['product']),
      node('Cast', ['product'], ['cast'], { to: FLOAT }),
      node('Mul', ['q_scale', 'w_scale'], ['scale']),
      node('Mul', ['cast', 'scale'], ['y']),
    ],
    inputs: [['x', kind === 'MatMulInteger' ? [2, ROWS] : [1, 1, ROWS]]],
    outputs: [['y', kind === 'MatMulInteger' ? [2, COLUMNS] : [1, 1, 'length']]],
  })
}

const run = async (graph: Uint8Array, x: Float32Array, dimensions: ReadonlyArray<number>): Promise<Float32Array> => {
  const session = await InferenceSession.create(graph, { executionProviders: ['cpu'] })
  const { y } = await session.run({ x: new Tensor('float32', x, dimensions) })
  return y?.data as Float32Array
}

/** Two rows of input. The second row is 100,000 times quieter than the first. */
const loudAndQuiet = Float32Array.from({ length: 2 * ROWS }, (_, i) => Math.sin(i * i) * (i < ROWS ? 1000 : 0.01))

for (const columns of [1, COLUMNS])
  test(`a quiet row next to a loud row keeps its values, with weights of ${columns} scales`, async (t) => {
    const graph = quantised('MatMulInteger', [ROWS, COLUMNS], columns)
    const rewritten = withRowScales(graph)
    if (rewritten === null) return void t.fail('the graph was not changed')
    const [plain, changed] = [await run(graph, loudAndQuiet, [2, ROWS]), await run(rewritten, loudAndQuiet, [2, ROWS])]
    for (let column = 0; column < COLUMNS; column++) {
      const scaleIndex = columns === 1 ? 0 : column
      const weight = (row: number): number =>
        ((((row * COLUMNS + column) * 7919) % 256) - 120 - scaleIndex) * ((scaleIndex + 1) / 1000)
      const exact = (from: number): number =>
        Array.from({ length: ROWS }, (_, row) => (loudAndQuiet[from + row] ?? 0) * weight(row)).reduce(
          (sum, product) => sum + product,
          0,
        )
      const magnitude = (from: number): number =>
        Math.hypot(...Array.from({ length: ROWS }, (_, row) => (loudAndQuiet[from + row] ?? 0) * weight(row)))
      t.is(plain[COLUMNS + column], 0, 'with one scale for both rows the quiet row becomes zero')
      for (const [index, from] of [[column, 0], [COLUMNS + column, ROWS]] as const)
        t.true(
          Math.abs((changed[index] ?? NaN) - exact(from)) < 0.02 * magnitude(from),
          `${changed[index]} instead of ${exact(from)}`,
        )
    }
  })

test('a convolution is computed in floats', async (t) => {
  const graph = quantised('ConvInteger', [1, 1, 3], 1)
  const rewritten = withRowScales(graph)
  if (rewritten === null) return void t.fail('the graph was not changed')
  const x = loudAndQuiet.slice(ROWS - 10, 2 * ROWS - 10)
  const y = await run(rewritten, x, [1, 1, ROWS])
  const weight = (i: number): number => ((i * 7919) % 256 - 120) / 1000
  const exact = [0, 1, 2].reduce((sum, i) => sum + weight(i) * (x[ROWS - 3 + i] ?? 0), 0)
  t.true(Math.abs((y[ROWS - 3] ?? NaN) - exact) < 1e-6, `${y[ROWS - 3]} instead of ${exact}`)
})

test('other graphs stay unchanged, and other bytes are refused', async (t) => {
  const graph = await readFile('test/support/fixtures/engine/exact-whisper/onnx/encoder_model.onnx')
  t.is(withRowScales(graph), null)
  t.is(withRowScales(quantised('MatMulInteger', [ROWS, COLUMNS], 1, 0)), null, 'the weights are in a separate file')
  const rewritten = withRowScales(quantised('MatMulInteger', [ROWS, COLUMNS], 1))
  t.is(rewritten && withRowScales(rewritten), null)
  t.throws(() => withRowScales(graph.subarray(0, graph.length - 1000)))
})
