import test from 'ava'
import { findEngineGpus } from '../../../../../infrastructure/onnx/providers/engine-gpus.ts'
import { engineEnvironment } from '../../../../../infrastructure/onnx/providers/engine-environment.ts'
import { memoryOfEngines } from '../../../../../infrastructure/onnx/providers/engine-memory.ts'

const NAMES = ['GPU-a1', 'GPU-b2', 'GPU-c3']
const gpus = NAMES.map((id) => ({ id, name: 'A GPU', memory: 10_000, used: 0 }))

/** Returns the ids of the GPUs that get an engine. CUDA works on all GPUs except those in `broken`. */
const enginesOn = async (visible?: string, broken: ReadonlyArray<string> = [], present = gpus) => {
  const choose = async (id: string) => ({
    provider: broken.includes(id) ? ('cpu' as const) : ('cuda' as const),
    why: '',
  })
  const engines = await findEngineGpus({ gpus: async () => present, visible, choose })
  return engines.map(({ id }) => id)
}

test('each of several GPUs on which CUDA works gets an engine', async (t) => {
  t.deepEqual(await enginesOn(), NAMES)
  t.deepEqual(await enginesOn(undefined, ['GPU-b2']), ['GPU-a1', 'GPU-c3'])
  t.deepEqual(await enginesOn(undefined, ['GPU-a1', 'GPU-b2']), [], 'one engine is enough for one GPU')
  t.deepEqual(await enginesOn(undefined, [], gpus.slice(0, 1)), [])
  t.deepEqual(await enginesOn(undefined, NAMES), [])
})

test('only GPUs that CUDA_VISIBLE_DEVICES names get an engine', async (t) => {
  t.deepEqual(await enginesOn('2,0'), ['GPU-c3', 'GPU-a1'])
  t.deepEqual(await enginesOn('GPU-b, GPU-c3'), ['GPU-b2', 'GPU-c3'])
  t.deepEqual(await enginesOn('0,1,7,2'), ['GPU-a1', 'GPU-b2'], 'CUDA ignores the entries from the first unknown one')
  t.deepEqual(await enginesOn(''), [])
  t.deepEqual(await enginesOn('1'), [])
})

test('GPUs whose driver names no UUID share one engine', async (t) => {
  const amd = [0, 1].map((card) => ({ name: `card${card}`, memory: 8192, used: 0 }))
  t.deepEqual(await findEngineGpus({ gpus: async () => amd, visible: undefined, choose: () => t.fail() }), [])
})

test('an engine with a GPU of its own sees only that GPU', (t) => {
  t.like(engineEnvironment('GPU-b2'), { CUDA_VISIBLE_DEVICES: 'GPU-b2', CUDA_DEVICE_ORDER: 'PCI_BUS_ID' })
})

test('engines divide VRAM_MB by the memory of their GPUs; without VRAM_MB each has 90 % of its GPU', async (t) => {
  const two = [{ id: 'a', name: '', memory: 24_000 }, { id: 'b', name: '', memory: 8000 }]
  t.deepEqual(await memoryOfEngines(null, two), [21_600, 7200])
  t.deepEqual(await memoryOfEngines(16_000, two), [12_000, 4000])
  t.deepEqual(await memoryOfEngines(16_000, []), [16_000])
})
