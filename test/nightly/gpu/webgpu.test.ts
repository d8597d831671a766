import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readdir, readFile } from 'node:fs/promises'
import type { ExecutionContext } from 'ava'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'
import { serialTestWith } from '../../support/running/skip-unless.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { readWav } from '../../support/audio/wav.ts'
import { withFloatWeights } from '../../support/webgpu/float-weights.ts'
import { startTranscriber, type TranscriberSettings } from '../../support/webgpu/transcriber.ts'
import { TESTED_GPU } from '../../support/webgpu/tested-gpu.ts'

/** One run of a node in onnxruntime's profile. */
interface ProfiledNode {
  readonly graph: string
  readonly provider: string
  readonly type: string
  /** Element types of its inputs. */
  readonly reads: ReadonlyArray<string>
}

interface ProfileEvent {
  readonly cat: string
  readonly args?: {
    readonly provider?: string
    readonly op_name?: string
    readonly input_type_shape?: ReadonlyArray<Readonly<Record<string, unknown>>>
  }
}

/** Returns all runs of nodes in a folder of profiles. */
const readProfiles = async (folder: string): Promise<ReadonlyArray<ProfiledNode>> => {
  const files = await readdir(folder)
  const nodes = await Promise.all(
    files.map(async (file) => {
      const events = JSON.parse(await readFile(join(folder, file), 'utf8')) as ReadonlyArray<ProfileEvent>
      return events.flatMap(
        ({
          cat,
          args: { provider, op_name: type, input_type_shape: inputs = [] } = {},
        }): ReadonlyArray<ProfiledNode> => {
          if (cat !== 'Node' || provider === undefined || type === undefined) return []
          return [
            {
              graph: file.split('.', 1)[0] ?? file,
              provider,
              type,
              reads: inputs.flatMap((input) => Object.keys(input)),
            },
          ]
        },
      )
    }),
  )
  return nodes.flat()
}

/** Returns whether a node computes positions or shapes, which onnxruntime always does on the CPU. */
const computesShapes = ({ type, reads }: ProfiledNode): boolean =>
  type === 'Shape' || reads.every((read) => !read.startsWith('float'))

/** Decoding on a GPU, by default SwiftShader, a software GPU: correct, but slow. */
const DEMO = 'models/demo-en'
const CLIPS = 'test/support/fixtures/engine/demo-clips'
const TINY = 'test/support/fixtures/engine/tiny-whisper'
const MINUTES = 60_000

const { provider: GPU, keepsOutputs } = TESTED_GPU
const PROVIDER_OF_NODES = { webgpu: 'WebGpuExecutionProvider', cuda: 'CUDAExecutionProvider' }[GPU]

const onGpu = serialTestWith(...TESTED_GPU.needs)
const simon = readWav('test/support/fixtures/engine/simon.wav')
const sheep = readWav('test/support/fixtures/engine/sheep.wav')

const floatDemo = async (t: ExecutionContext): Promise<string> => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const folder = join(directory.path, 'demo-en')
  await withFloatWeights(DEMO, folder)
  return folder
}

onGpu('ten clips give the same tokens as on the CPU, and four clips in one batch the same as alone', async (t) => {
  t.timeout(10 * MINUTES)
  const folder = await floatDemo(t)
  const files = readdirSync(CLIPS).filter((file) => file.startsWith('known-'))
  t.is(files.length, 10)
  const clips = await Promise.all(files.map((file) => readAudioFile(join(CLIPS, file))))
  const cpu = await startTranscriber(t, { folder, provider: 'cpu' })
  const gpu = await startTranscriber(t, { folder, provider: GPU })
  const alone: Array<ReadonlyArray<number>> = []
  for (const clip of clips) {
    const { tokens, tensors } = await gpu.transcribe(clip)
    t.deepEqual(tokens, (await cpu.transcribe(clip)).tokens)
    t.is(tensors.created, tensors.disposed)
    alone.push(...tokens)
  }
  const { tokens } = await gpu.transcribe(...clips.slice(0, 4))
  t.deepEqual(tokens, alone.slice(0, 4))
  t.true(tokens.flat().length > 40, 'the clips contain whole sentences')
})

onGpu('a merged decoder keeps its cache on the device too', async (t) => {
  const merged = `${TINY}/onnx/decoder_model_merged.onnx`
  const cpu = await startTranscriber(t, { folder: TINY, provider: 'cpu', merged })
  const gpu = await startTranscriber(t, { folder: TINY, provider: GPU, merged })
  const { tokens, tensors } = await gpu.transcribe(simon, sheep)
  t.deepEqual(tokens, (await cpu.transcribe(simon, sheep)).tokens)
  t.is(tensors.created > 0, keepsOutputs)
  t.is(tensors.created, tensors.disposed)
})

/** Runs one pass and returns its profile: the nodes that ran, their graphs, and the tensors. */
const profileOf = async (t: ExecutionContext, settings: TranscriberSettings) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const { transcribe } = await startTranscriber(t, { ...settings, profiles: directory.path })
  const { tokens, tensors } = await transcribe(sheep)
  const nodes = await readProfiles(directory.path)
  return {
    steps: tokens[0]?.length ?? 0,
    tensors,
    nodes,
    graphs: [...new Set(nodes.map(({ graph }) => graph))].toSorted(),
  }
}

onGpu('no node falls back to the CPU, and all caches stay on the device', async (t) => {
  t.timeout(5 * MINUTES)
  const folder = await floatDemo(t)
  const { steps, tensors, nodes, graphs } = await profileOf(t, { folder, provider: GPU })
  t.deepEqual(graphs, ['decoder_model', 'decoder_with_past_model', 'encoder_model'])
  const fallen = nodes.filter((node) => node.provider !== PROVIDER_OF_NODES && !computesShapes(node))
  t.deepEqual(fallen, [])
  t.deepEqual(nodes.filter(({ type }) => type === 'MemcpyToHost'), [], 'no tensor is copied to the CPU between nodes')
  t.true(nodes.some(({ provider, type }) => provider === PROVIDER_OF_NODES && type === 'MatMul'))
  // Each of the two layers has a key and a value: 4 tensors for the text in each step, and 4 for the audio. The encoder
  // has 2 outputs: one of the pass, and one of the trial with a short window.
  t.is(tensors.created, keepsOutputs ? 4 * (steps + 1) + 4 + 2 : 0)

  const integers = await profileOf(t, { folder: DEMO, provider: GPU })
  t.true(
    integers.nodes.some((node) => node.provider === 'CPUExecutionProvider' && !computesShapes(node)),
    'the control with 8-bit weights falls back to the CPU',
  )
})

/** Returns the buffers left on the device, and the growth of the process after pass 50 in megabytes. */
const manyPasses = async (t: ExecutionContext, passes: number, disposes: boolean) => {
  const { transcribe, cancel } = await startTranscriber(t, { folder: await floatDemo(t), provider: GPU, disposes })
  let rssAt50 = 0
  let last = await transcribe(sheep)
  for (let pass = 1; pass < passes; pass++) {
    if (pass % 4 === 3) await cancel(sheep)
    last = await transcribe(sheep)
    if (pass === 50) rssAt50 = last.rss
  }
  return { undisposed: last.tensors.created - last.tensors.disposed, grownBy: (last.rss - rssAt50) / 2 ** 20 }
}

onGpu('200 passes and 50 cancelled ones leave nothing on the device, unlike without disposal', async (t) => {
  t.timeout(90 * MINUTES)
  const disposing = await manyPasses(t, 200, true)
  t.log(`${disposing.undisposed} left, grown by ${disposing.grownBy.toFixed(1)} MB`)
  t.is(disposing.undisposed, 0)
  t.true(disposing.grownBy < 5)
  if (!keepsOutputs) return
  const control = await manyPasses(t, 100, false)
  t.log(`control: ${control.undisposed} left, grown by ${control.grownBy.toFixed(1)} MB`)
  t.true(control.undisposed > 0)
  t.true(control.grownBy > 5)
})
