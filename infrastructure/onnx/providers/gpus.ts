import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A GPU of this machine, as its driver describes it; megabytes. */
export interface Gpu {
  readonly name: string
  readonly memory: number
  readonly used: number
  /** Its UUID, which CUDA_VISIBLE_DEVICES accepts; only of NVIDIA's GPUs. */
  readonly id?: string
}

/** Sources of the list of GPUs. Tests replace them. */
export interface GpuSources {
  /** Resolves to the output of `nvidia-smi`; rejects when it cannot run. */
  readonly nvidia: () => Promise<string>
  /** Folder of the graphics cards on Linux. */
  readonly cards: string
}

/** Time limit of nvidia-smi, because a hanging driver must not delay the start. */
const LIMIT_MS = 5000
const QUERY = ['--query-gpu=name,memory.total,memory.used,uuid', '--format=csv,noheader,nounits']

const SOURCES: GpuSources = {
  nvidia: async () => (await promisify(execFile)('nvidia-smi', QUERY, { timeout: LIMIT_MS })).stdout,
  cards: '/sys/class/drm',
}

const nvidiaGpus = async ({ nvidia }: GpuSources): Promise<ReadonlyArray<Gpu>> => {
  const lines = (await nvidia().catch(() => '')).split('\n').map((line) => line.split(',').map((cell) => cell.trim()))
  return lines.flatMap(([name = '', memory, used, id]): ReadonlyArray<Gpu> => {
    const gpu = { name, memory: Number(memory), used: Number(used), ...(id !== undefined && { id }) }
    // nvidia-smi prints no memory for a part of a GPU (MIG), or without permission.
    return gpu.memory > 0 ? [{ ...gpu, used: gpu.used || 0 }] : []
  })
}

const bytesIn = async (file: string): Promise<number> => Number(await readFile(file, 'utf8').catch(() => '0'))

/** Returns the GPUs with a file for their memory. Only AMD's driver creates such files. */
const amdGpus = async ({ cards }: GpuSources): Promise<ReadonlyArray<Gpu>> => {
  const names = (await readdir(cards).catch(() => [])).filter((name) => /^card\d+$/.test(name)).toSorted()
  const gpus = await Promise.all(
    names.map(async (name) => {
      const fileOf = (part: string): string => join(cards, name, 'device', `mem_info_vram_${part}`)
      const [memory = 0, used = 0] = await Promise.all(['total', 'used'].map((part) => bytesIn(fileOf(part))))
      return { name, memory: Math.floor(memory / 2 ** 20), used: Math.floor(used / 2 ** 20) }
    }),
  )
  return gpus.filter(({ memory }) => memory > 0)
}

/** Returns all GPUs whose drivers report their memory. */
export const readGpus = async (sources: GpuSources = SOURCES): Promise<ReadonlyArray<Gpu>> =>
  [...(await nvidiaGpus(sources)), ...(await amdGpus(sources))]
