import test from 'ava'
import { Tensor, type InferenceSession } from 'onnxruntime-node'
import { twoFileDecoder } from '../../../../infrastructure/onnx/decoder.ts'

const OUTPUTS = ['logits', 'present.0.decoder.key', 'cross_attentions.0', 'cross_attentions.1']

/** A graph without weights. It records the outputs that each run fetches. */
const recordingGraph = () => {
  const fetched: Array<ReadonlyArray<string>> = []
  const run = async (_: unknown, outputs: ReadonlyArray<string>) => {
    fetched.push(outputs)
    return Object.fromEntries(outputs.map((output) => [output, new Tensor('float32', [0], [1, 1, 1])]))
  }
  return { fetched, graph: { outputNames: OUTPUTS, run } as unknown as InferenceSession }
}

test('a decoder fetches only the outputs that are read', async (t) => {
  const [prompt, next] = [recordingGraph(), recordingGraph()]
  const decoder = twoFileDecoder(prompt.graph, next.graph, (output) => output !== 'cross_attentions.0')
  const step = await decoder.open(new Tensor('float32', [0], [1, 1, 1]), [[1]])
  await step.next([2])
  const expected = [['logits', 'present.0.decoder.key', 'cross_attentions.1']]
  t.deepEqual(prompt.fetched, expected)
  t.deepEqual(next.fetched, expected)
})
