import { chooseProvider, type ProviderChoice } from './execution-provider.ts'
import { type Gpu, readGpus } from './gpus.ts'

/** A GPU that has an engine of its own; memory in megabytes. */
export interface EngineGpu {
  readonly id: string
  readonly name: string
  readonly memory: number
}

/** How GPUs are found and tested. Tests replace the parts. */
interface Detection {
  readonly gpus: () => Promise<ReadonlyArray<Gpu>>
  /** CUDA_VISIBLE_DEVICES of the operator; undefined when it is not set. */
  readonly visible: string | undefined
  readonly choose: (id: string) => Promise<ProviderChoice>
}

const DETECTION = (): Detection => ({
  gpus: readGpus,
  visible: process.env['CUDA_VISIBLE_DEVICES'],
  choose: (id) => chooseProvider(undefined, id),
})

/**
 * Returns the GPUs that CUDA_VISIBLE_DEVICES selects. CUDA's rule: an entry is a number or the start of a UUID, and the
 * first unknown entry ends the list.
 */
const visibleOf = (gpus: ReadonlyArray<EngineGpu>, visible: string | undefined): ReadonlyArray<EngineGpu> => {
  if (visible === undefined) return gpus
  const named = visible.split(',').map((entry) => entry.trim())
    .map((entry) => {
      if (entry === '') return undefined
      return /^\d+$/.test(entry) ? gpus[Number(entry)] : gpus.find(({ id }) => id.startsWith(entry))
    })
  const end = named.indexOf(undefined)
  return named.slice(0, end === -1 ? named.length : end).filter((gpu) => gpu !== undefined)
}

/**
 * Returns the GPUs that get an engine each: all GPUs on which CUDA works, if there are at least two. An empty list
 * means that one engine runs all sessions. WebGPU always has one engine, because onnxruntime cannot select its GPU.
 */
export const findEngineGpus = async (detection: Detection = DETECTION()): Promise<ReadonlyArray<EngineGpu>> => {
  const known = (await detection.gpus())
    .flatMap(({ id, name, memory }) => (id === undefined ? [] : [{ id, name, memory }]))
  const visible = visibleOf(known, detection.visible)
  if (visible.length < 2) return []
  const choices = await Promise.all(visible.map(({ id }) => detection.choose(id)))
  const working = visible.filter((_, index) => choices[index]?.provider === 'cuda')
  return working.length < 2 ? [] : working
}
