import { TESTED_GPU } from '../../support/webgpu/tested-gpu.ts'
import { startTranscriber } from '../../support/webgpu/transcriber.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { readWav } from '../../support/audio/wav.ts'

const TINY = 'test/support/fixtures/engine/tiny-whisper'

testWith(...TESTED_GPU.needs)(
  'WebGPU transcribes single and batched recordings like the CPU, and releases its buffers',
  async (t) => {
    const clips = ['simon', 'sheep'].map((name) => readWav(`test/support/fixtures/engine/${name}.wav`))
    const [cpu, gpu] = await Promise.all([
      startTranscriber(t, { folder: TINY, provider: 'cpu' }),
      startTranscriber(t, { folder: TINY, provider: TESTED_GPU.provider }),
    ])
    const together = await gpu.transcribe(...clips)
    t.deepEqual(together.tokens, (await cpu.transcribe(...clips)).tokens)
    for (const [i, clip] of clips.entries()) t.deepEqual((await gpu.transcribe(clip)).tokens, [together.tokens[i]])
    const { tokens, tensors } = await gpu.cancel(...clips)
    t.deepEqual(tokens, [[], []])
    t.is(tensors.created > 0, TESTED_GPU.keepsOutputs)
    t.is(tensors.created, tensors.disposed)
  },
)
