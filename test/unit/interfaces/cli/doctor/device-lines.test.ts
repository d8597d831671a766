import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { deviceLines, type DeviceFindings } from '../../../../../interfaces/cli/doctor/device-checks.ts'

const CARD = { name: 'A GPU', memory: 8192, used: 1000 }
const CUDA = {
  provider: 'cuda', why: 'a test graph takes 0.4 ms, on the CPU 3.0 ms', times: { gpu: 0.4, cpu: 3 },
} as const

const lines = (changes: Partial<DeviceFindings>) =>
  deviceLines({
    choice: { provider: 'cpu', why: 'no GPU was found' }, gpus: [], engineGpus: [], vrams: [4000], pass: E.right(21.4),
    ...changes,
  }).map(({ name, ok, detail }) => `${name} ${ok ? 'ok' : 'WRONG'} ${detail}`)

test('doctor prints one line each for device, memory, precision and milliseconds of a pass', (t) => {
  const [provider, device, ...others] = lines({})
  t.is(provider, 'execution provider ok cpu (no GPU was found)')
  t.regex(device ?? '', /^device ok .+, \d+ threads$/)
  t.deepEqual(others, [
    'memory ok sessions can reserve 4000 MB',
    'precision ok 8-bit weights if the model has them',
    'trial pass ok demo-en took 21 ms on the CPU for 5 s of silence',
  ])
})

test('with several GPUs doctor names each GPU and the memory that sessions can reserve on it', (t) => {
  const gpus = [{ ...CARD, id: 'GPU-a1' }, { ...CARD, name: 'Other GPU', id: 'GPU-b2' }]
  t.deepEqual(lines({ choice: CUDA, gpus, engineGpus: gpus, vrams: [7372, 7000] }), [
    'execution provider ok cuda (a test graph takes 0.4 ms, on the CPU 3.0 ms)',
    'device ok A GPU, Other GPU; one engine for each GPU',
    'memory ok sessions can reserve 7372 MB + 7000 MB; A GPU has 8192 MB, 1000 MB in use; ' +
      'Other GPU has 8192 MB, 1000 MB in use',
    'precision ok 32-bit and 16-bit weights on cuda; 8-bit weights on the CPU',
    'trial pass ok demo-en took 21 ms on the CPU for 5 s of silence; a test graph took 0.4 ms on cuda',
  ])
  const choice = { ...CUDA, provider: 'webgpu' } as const
  t.is(lines({ choice, gpus })[1], 'device ok one of A GPU, Other GPU; the driver chooses')
  t.is(lines({ choice, gpus: [CARD] })[1], 'device ok A GPU')
  t.is(lines({ choice })[1], 'device ok a GPU without a reported name')
})

test('doctor fails when the shipped model does not run', (t) => {
  t.is(
    lines({ pass: E.left('onnx/encoder_model.onnx is missing') })[4],
    'trial pass WRONG demo-en cannot run: onnx/encoder_model.onnx is missing',
  )
})
