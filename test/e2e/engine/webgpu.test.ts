import { SWIFTSHADER } from '../../support/webgpu/swiftshader.ts'
import { startHearing } from '../../support/webgpu/hearing.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { readWav } from '../../support/audio/wav.ts'

const TINY = 'test/support/fixtures/engine/tiny-whisper'

testWith(SWIFTSHADER)(
  'WebGPU gives the texts of the CPU, separate and joined, and releases its buffers',
  async (t) => {
    const clips = ['simon', 'sheep'].map((name) => readWav(`test/support/fixtures/engine/${name}.wav`))
    const [cpu, gpu] = await Promise.all([
      startHearing(t, { folder: TINY, provider: 'cpu' }),
      startHearing(t, { folder: TINY, provider: 'webgpu' }),
    ])
    const together = await gpu.hear(...clips)
    t.deepEqual(together.tokens, (await cpu.hear(...clips)).tokens)
    for (const [i, clip] of clips.entries()) t.deepEqual((await gpu.hear(clip)).tokens, [together.tokens[i]])
    const { tokens, tensors } = await gpu.callOff(...clips)
    t.deepEqual(tokens, [[], []])
    t.true(tensors.made > 0)
    t.is(tensors.made, tensors.disposed)
  },
)
