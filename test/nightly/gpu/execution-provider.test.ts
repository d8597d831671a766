import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import {
  chooseProvider, compareTwice, probeProvider, type GpuProvider, type ProbeAnswer,
} from '../../../infrastructure/onnx/providers/execution-provider.ts'
import { findWeights } from '../../../infrastructure/onnx/model-weights.ts'
import { deviceChecks } from '../../../interfaces/cli/doctor/device-checks.ts'
import { examineEnvironment } from '../../../interfaces/cli/doctor/environment-checks.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { SWIFTSHADER, SWIFTSHADER_ENVIRONMENT } from '../../support/webgpu/swiftshader.ts'

/** Milliseconds of the test graph on the GPU and on the CPU. */
const FAST = E.right({ gpu: 0.4, cpu: 3 })
const SLOW = E.right({ gpu: 2600, cpu: 3 })

/** Chooses a provider. A string is an obstacle: that provider is not probed. `tried` lists the probed providers. */
const choose = (answers: Readonly<Record<GpuProvider, ProbeAnswer | string>>) => {
  const tried: Array<GpuProvider> = []
  const probe = async (provider: GpuProvider): Promise<ProbeAnswer> => {
    tried.push(provider)
    const answer = answers[provider]
    return typeof answer === 'string' ? E.left('not asked') : answer
  }
  const obstacle = (provider: GpuProvider): string | null =>
    typeof answers[provider] === 'string' ? answers[provider] : null
  return chooseProvider({ obstacle, probe }).then((choice) => ({ ...choice, tried }))
}

test('the first provider that works and is faster than the CPU is chosen, with the reasons', async (t) => {
  t.deepEqual(await choose({ cuda: FAST, webgpu: FAST }), {
    provider: 'webgpu',
    why: 'a test graph takes 0.4 ms, on the CPU 3.0 ms',
    times: { gpu: 0.4, cpu: 3 },
    tried: ['webgpu'],
  })
  t.deepEqual(await choose({ cuda: FAST, webgpu: E.left('no Vulkan driver') }), {
    provider: 'cuda',
    why: 'a test graph takes 0.4 ms, on the CPU 3.0 ms; webgpu: no Vulkan driver',
    times: { gpu: 0.4, cpu: 3 },
    tried: ['webgpu', 'cuda'],
  })
  t.deepEqual(await choose({ cuda: E.left('cuDNN is\n  missing'), webgpu: SLOW }), {
    provider: 'cpu',
    why: 'webgpu: its adapter is slower than the CPU (2600.0 ms instead of 3.0 ms); cuda: cuDNN is missing',
    tried: ['webgpu', 'cuda'],
  })
  t.deepEqual(await choose({ cuda: 'no device', webgpu: 'no device' }), {
    provider: 'cpu',
    why: 'no GPU was found',
    tried: [],
  })
  const { why } = await choose({
    cuda: 'no device',
    webgpu: E.left(`${'/source.cc '.repeat(40)}No supported adapters`),
  })
  t.regex(why, /^webgpu: ….{130,}No supported adapters; cuda: no device$/)
})

test('the large graph decides, unless the GPU takes far longer than the CPU for the small graph', async (t) => {
  const compare = (small: { readonly gpu: number, readonly cpu: number }) =>
    compareTwice(async ({ size }) => (size <= 256 ? small : { gpu: 9, cpu: 45 }))
  t.deepEqual(await compare({ gpu: 1.7, cpu: 0.6 }), { gpu: 9, cpu: 45 })
  t.deepEqual(await compare({ gpu: 2600, cpu: 3 }), { gpu: 2600, cpu: 3 })
})

test('a provider is tried in a separate process, and doctor prints its reason', async (t) => {
  const answer = await probeProvider('no such provider' as GpuProvider)
  t.regex(E.isLeft(answer) ? answer.left : '', /no such provider/)
  const { provider, why } = await chooseProvider()
  const checks = await examineEnvironment(E.left([]))
  t.false(
    checks.some(({ name }) => name === 'execution provider'),
    'without valid settings only the checks that need no settings run',
  )
  const lines = await deviceChecks(4000)
  t.deepEqual(
    lines.map(({ name, ok }) => [name, ok]),
    [
      ['execution provider', true],
      ['device', true],
      ['memory', true],
      ['precision', true],
      ['trial pass', true],
    ],
  )
  t.regex(lines[0]?.detail ?? '', new RegExp(`^${provider} `))
  t.regex(lines[4]?.detail ?? '', /^demo-en took [1-9]\d* ms on the CPU for 5 s of silence/)
  if (provider === 'cpu') t.regex(why, /^no GPU was found$|^webgpu: .+; cuda: .+$/)
  else t.regex(why, /a test graph takes .* ms, on the CPU/)
})

testWith(SWIFTSHADER)('a GPU that the CPU emulates is refused, because it is slower', async (t) => {
  Object.assign(process.env, SWIFTSHADER_ENVIRONMENT)
  const { provider, why } = await chooseProvider({ obstacle: () => null, probe: probeProvider })
  t.is(provider, 'cpu')
  t.regex(why, /^webgpu: its adapter is slower than the CPU \(\d{3,}\.\d ms instead of/)
})

test('a GPU prefers 32-bit weights, and the CPU prefers 8-bit weights', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const put = async (suffix: string): Promise<void> => {
    for (const name of ['encoder_model', 'decoder_model_merged'])
      await writeFile(join(directory.path, `${name}${suffix}.onnx`), suffix)
  }
  const found = async (provider: 'cpu' | 'cuda' | 'webgpu') => {
    const weights = await findWeights(directory.path, provider)
    if (E.isLeft(weights)) throw new Error(weights.left)
    return [/encoder_model(.*)\.onnx$/.exec(weights.right.encoder)?.[1], weights.right.eightBits]
  }
  await put('_quantized')
  t.deepEqual([await found('cpu'), await found('cuda')], [['_quantized', true], ['_quantized', true]])
  await put('_fp16')
  t.deepEqual([await found('cpu'), await found('webgpu')], [['_quantized', true], ['_fp16', false]])
  await put('')
  t.deepEqual([await found('cpu'), await found('cuda')], [['_quantized', true], ['', false]])
})
