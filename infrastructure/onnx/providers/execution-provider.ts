import { fork } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { engineEnvironment, TEST_PROVIDER } from './engine-environment.ts'

/** What onnxruntime calls the things that it computes on. */
const PROVIDERS = ['cuda', 'webgpu', 'cpu'] as const
export type Provider = (typeof PROVIDERS)[number]
export type GpuProvider = Exclude<Provider, 'cpu'>

export interface ProviderChoice {
  readonly provider: Provider
  /** Why it, and none of those that would come first. */
  readonly why: string
  /** Of the probe; absent on the CPU. */
  readonly times?: ProbeTimes
}

/** Milliseconds that one run of the probe's graph took on the GPU, and on all cores of the CPU. */
export interface ProbeTimes {
  readonly gpu: number
  readonly cpu: number
}

/** What the probe's process sends, once. */
export type ProbeAnswer = Either<string, ProbeTimes>

/** How a choice is made; tests replace parts of it. */
export interface ProviderTrials {
  /** Why there is nothing to try, seen without loading anything; null where there may be. */
  readonly obstacle: (provider: GpuProvider) => string | null
  readonly probe: (provider: GpuProvider, gpuId?: string) => Promise<ProbeAnswer>
}

/** A driver that takes longer to compile two operators does not help a live. */
const PROBE_MS = 30_000
/** Of messages of onnxruntime, which begin with source files and conditions; what is wrong comes last. */
const MAX_REASON = 160
const briefly = (reason: string): string => {
  const line = reason.replace(/\s+/g, ' ').trim()
  return line.length > MAX_REASON ? `…${line.slice(-MAX_REASON)}` : line
}

/** Where npm puts the native libraries; the one for CUDA is not in the package (docs/operate/gpu.md). */
const librariesOf = (): string =>
  join(dirname(fileURLToPath(import.meta.resolve('onnxruntime-node'))), '..', 'bin', 'napi-v6', process.platform, process.arch)

const deviceNames = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Linux shows every GPU that a process may use as a file; without one, what calls itself an adapter is the CPU in disguise. */
const hasDevice = (provider: GpuProvider): boolean => {
  if (process.platform !== 'linux') return true
  const root = deviceNames('/dev')
  if (root.includes('dxg') || root.some((name) => /^nvidia\d+$/.test(name))) return true
  return provider === 'webgpu' && deviceNames('/dev/dri').some((name) => name.startsWith('renderD'))
}

const NO_DEVICE = 'no device'

/** A library is worth a word only where there is a device for it. */
const obstacle: ProviderTrials['obstacle'] = (provider) => {
  if (!hasDevice(provider)) return NO_DEVICE
  const isMissing = provider === 'cuda' && !existsSync(join(librariesOf(), 'libonnxruntime_providers_cuda.so'))
  return isMissing ? 'its library is not installed (docs/operate/gpu.md)' : null
}

/** Tries it in a process of its own: a driver that crashes or hangs brings that one down. */
export const probeProvider: ProviderTrials['probe'] = (provider, gpuId) =>
  new Promise((resolve) => {
    const child = fork(fileURLToPath(new URL('./provider-probe-process.ts', import.meta.url)), [provider], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
      env: engineEnvironment(gpuId),
    })
    const end = (answer: ProbeAnswer): void => {
      clearTimeout(limit)
      child.kill('SIGKILL')
      resolve(answer)
    }
    const limit = setTimeout(() => end(E.left(`no answer in ${PROBE_MS / 1000} s`)), PROBE_MS)
    child.once('message', (answer) => end(answer as ProbeAnswer))
    child.once('error', (error) => end(E.left(error.message)))
    child.once('exit', (code, signal) => end(E.left(`its driver ended the process that tried it (${signal ?? `exit code ${code}`})`)))
  })

/** Null where it runs; else why not. */
const tryOut = async (
  provider: GpuProvider,
  { obstacle: seen, probe }: ProviderTrials,
  gpuId: string | undefined,
): Promise<Either<string, ProbeTimes>> => {
  const missing = seen(provider)
  if (missing !== null) return E.left(missing)
  const times = await probe(provider, gpuId)
  if (E.isLeft(times)) return E.left(briefly(times.left))
  const { gpu, cpu } = times.right
  // A software rasteriser calls itself an adapter too, and computes right; what tells is its speed.
  return gpu < cpu ? times : E.left(`its adapter is slower than the CPU (${gpu.toFixed(1)} ms where that takes ${cpu.toFixed(1)})`)
}

/** Providers in the order in which they are tried. */
const TRIED: ReadonlyArray<GpuProvider> = ['cuda', 'webgpu']

/**
 * Returns the first of cuda, webgpu and cpu that really runs here and is faster than the CPU. Takes a few milliseconds
 * where there is no device.
 *
 * @param gpuId id of the only GPU that may be used; only CUDA can be limited to one, so webgpu is not tried
 */
export const chooseProvider = async (
  trials: ProviderTrials = { obstacle, probe: probeProvider },
  gpuId?: string,
): Promise<ProviderChoice> => {
  const named = PROVIDERS.find((provider) => provider === process.env[TEST_PROVIDER])
  if (named !== undefined) return { provider: named, why: `${TEST_PROVIDER} names it` }
  const against: Array<string> = []
  for (const provider of gpuId === undefined ? TRIED : (['cuda'] as const)) {
    const tried = await tryOut(provider, trials, gpuId)
    if (E.isRight(tried)) {
      const times = tried.right
      const why = `${times.gpu.toFixed(1)} ms where the CPU takes ${times.cpu.toFixed(1)}`
      return { provider, why: [why, ...against].join('; '), times }
    }
    against.push(`${provider}: ${tried.left}`)
  }
  const isBare = against.every((reason) => reason.endsWith(`: ${NO_DEVICE}`))
  return { provider: 'cpu', why: isBare ? 'no GPU was found' : against.join('; ') }
}
