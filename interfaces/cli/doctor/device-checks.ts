import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import { BUNDLED_MODELS } from '../../../infrastructure/catalogue/installed-models.ts'
import { BUNDLED_MODEL } from '../../../infrastructure/catalogue/models.ts'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { type EngineGpu, findEngineGpus } from '../../../infrastructure/onnx/providers/engine-gpus.ts'
import { memoryOfEngines } from '../../../infrastructure/onnx/providers/engine-memory.ts'
import { chooseProvider, type ProviderChoice } from '../../../infrastructure/onnx/providers/execution-provider.ts'
import { type Gpu, readGpus } from '../../../infrastructure/onnx/providers/gpus.ts'
import type { Check } from './check.ts'

/** The hardware on which models run. */
export interface DeviceFindings {
  readonly choice: ProviderChoice
  /** GPUs whose drivers report their memory. */
  readonly gpus: ReadonlyArray<Gpu>
  /** GPUs that each have their own engine; empty when there is a single engine. */
  readonly engineGpus: ReadonlyArray<EngineGpu>
  /** Memory that sessions can reserve on each engine, in MB. */
  readonly vrams: ReadonlyArray<number>
  /** Milliseconds of a pass of the bundled model over AUDIO_SECONDS of silence. Left: the reason of a failure. */
  readonly pass: Either<string, number>
}

const AUDIO_SECONDS = 5
const SILENT: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Times the second pass of the bundled model in an engine process. The first pass is slower: it allocates memory. */
const measurePass = async (): Promise<Either<string, number>> => {
  const models = new Map([[BUNDLED_MODEL, join(BUNDLED_MODELS, BUNDLED_MODEL)]])
  const engine = createSpeechEngine({ models, workers: 1, logger: SILENT })
  try {
    const samples = new Int16Array(AUDIO_SECONDS * SAMPLE_RATE)
    const pass = () => engine.transcribe({ model: BUNDLED_MODEL, language: 'en', samples })
    const first = await pass()
    if (E.isLeft(first)) return E.left(first.left.reason)
    const began = performance.now()
    const second = await pass()
    return E.isLeft(second) ? E.left(second.left.reason) : E.right(performance.now() - began)
  } finally {
    await engine.close()
  }
}

const deviceOf = ({ choice, gpus, engineGpus }: DeviceFindings): string => {
  if (engineGpus.length > 0) return `${engineGpus.map(({ name }) => name).join(', ')}; one engine for each GPU`
  if (choice.provider === 'cpu') return `${cpus()[0]?.model ?? 'CPU'}, ${availableParallelism()} threads`
  const names = gpus.map(({ name }) => name).join(', ')
  return gpus.length > 1 ? `one of ${names}; the driver chooses` : names || 'a GPU without a reported name'
}

const memoryOf = ({ gpus, vrams }: DeviceFindings): string => {
  const onGpus = gpus.map(({ name, memory, used }) => `; ${name} has ${memory} MB, ${used} MB in use`).join('')
  return `sessions can reserve ${vrams.map((vram) => `${vram} MB`).join(' + ')}${onGpus}`
}

const precisionOf = ({ choice: { provider } }: DeviceFindings): string =>
  provider === 'cpu'
    ? '8-bit weights if the model has them'
    : `32-bit and 16-bit weights on ${provider}; 8-bit weights on the CPU`

const passOf = ({ choice: { provider, times }, pass }: DeviceFindings): string => {
  const onGpu = times === undefined ? '' : `; a test graph took ${times.gpu.toFixed(1)} ms on ${provider}`
  return E.isLeft(pass)
    ? `${BUNDLED_MODEL} cannot run: ${pass.left}`
    : `${BUNDLED_MODEL} took ${pass.right.toFixed(0)} ms on the CPU for ${AUDIO_SECONDS} s of silence${onGpu}`
}

/** Returns one line each: provider, device, memory, precision of the weights, and duration of a trial pass. */
export const deviceLines = (found: DeviceFindings): ReadonlyArray<Check> => [
  { name: 'execution provider', ok: true, detail: `${found.choice.provider} (${found.choice.why})` },
  { name: 'device', ok: true, detail: deviceOf(found) },
  { name: 'memory', ok: true, detail: memoryOf(found) },
  { name: 'precision', ok: true, detail: precisionOf(found) },
  { name: 'trial pass', ok: E.isRight(found.pass), detail: passOf(found) },
]

/** Examines the hardware. `vramMb` is the setting VRAM_MB; null when it is not set. */
export const deviceChecks = async (vramMb: number | null): Promise<ReadonlyArray<Check>> => {
  const [choice, gpus, engineGpus] = await Promise.all([chooseProvider(), readGpus(), findEngineGpus()])
  const vrams = await memoryOfEngines(vramMb, engineGpus)
  return deviceLines({ choice, gpus, engineGpus, vrams, pass: await measurePass() })
}
