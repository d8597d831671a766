import { totalmem } from 'node:os'
import type { EngineGpu } from './engine-gpus.ts'
import { chooseProvider } from './execution-provider.ts'
import { readGpus } from './gpus.ts'

/** A driver, and programs that are not Stenolog, need the rest of a GPU's memory. */
const SHARE_OF_GPU = 0.9
const SHARE_OF_RAM = 0.5

/**
 * Returns the megabytes for models: 90 % of the smallest GPU if models run on GPUs of known size, else half of the RAM.
 */
const detectedMemory = async (): Promise<number> => {
  const gpus = await readGpus()
  const isUsed = gpus.length > 0 && (await chooseProvider()).provider !== 'cpu'
  return isUsed
    ? Math.floor(SHARE_OF_GPU * Math.min(...gpus.map(({ memory }) => memory)))
    : Math.floor(SHARE_OF_RAM * totalmem() / 2 ** 20)
}

/**
 * Returns the megabytes that sessions can reserve on each engine, in the order of `gpus`; a single figure where one
 * engine runs all sessions.
 *
 * @param vramMb the setting VRAM_MB, which engines share by the memory of their GPUs; null: 90 % of each GPU
 */
export const memoryOfEngines = async (
  vramMb: number | null,
  gpus: ReadonlyArray<EngineGpu>,
): Promise<ReadonlyArray<number>> => {
  if (gpus.length === 0) return [vramMb ?? (await detectedMemory())]
  const all = gpus.reduce((sum, { memory }) => sum + memory, 0)
  return gpus.map(({ memory }) => Math.floor(vramMb === null ? SHARE_OF_GPU * memory : vramMb * memory / all))
}
