import { readFile } from 'node:fs/promises'
import test from 'ava'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { withSignedWeights } from '../../../../../infrastructure/onnx/graphs/signed-weights.ts'

const FRAMES = 300
const encoderOf = (model: string, suffix: string): Promise<Buffer> =>
  readFile(`${model}/onnx/encoder_model${suffix}.onnx`)

const encode = async (graph: Uint8Array): Promise<Float32Array> => {
  const session = await InferenceSession.create(graph, { executionProviders: ['cpu'] })
  const input = session.inputMetadata.find(({ name }) => name === 'input_features')
  const bins = input?.isTensor === true ? Number(input.shape[1]) : 0
  const features = Float32Array.from({ length: bins * FRAMES }, (_, i) => Math.sin(i * i))
  const results = await session.run({ input_features: new Tensor('float32', features, [1, bins, FRAMES]) })
  return results['last_hidden_state']?.data as Float32Array
}

test('a model with weights rewritten as signed 8-bit numbers gives exactly the same results', async (t) => {
  const graph = await encoderOf('models/demo-en', '_quantized')
  const before = Uint8Array.from(graph)
  const signed = withSignedWeights(graph)
  t.true(graph.equals(before), 'the original graph is unchanged')
  if (signed === null) return void t.fail('the graph was not changed')
  // Without VNNI instructions products of signed weights may saturate, so the results may differ.
  const isExact = /_vnni\b/.test(await readFile('/proc/cpuinfo', 'utf8').catch(() => ''))
  const [plain, changed] = [await encode(graph), await encode(signed)]
  t.is(changed.length, plain.length)
  const furthest = plain.reduce((most, value, i) => Math.max(most, Math.abs(value - (changed[i] ?? Number.NaN))), 0)
  if (isExact) t.is(furthest, 0)
  t.is(withSignedWeights(signed), null, 'signed weights stay as they are')
})

test('a graph without 8-bit weights stays unchanged, and bytes that are not a graph are refused', async (t) => {
  const graph = await encoderOf('test/support/fixtures/engine/exact-whisper', '')
  t.is(withSignedWeights(graph), null)
  t.throws(() => withSignedWeights(graph.subarray(0, graph.length - 1000)))
})
