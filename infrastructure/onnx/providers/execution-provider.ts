import { fork } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { LARGE_PROBE, type ProbeShape, SMALL_PROBE } from '../graphs/probe-graph.ts'
import { engineEnvironment, TEST_PROVIDER } from './engine-environment.ts'

/**
 * onnxruntime's names of the devices that run graphs, in the order in which they are tried. WebGPU comes before CUDA,
 * because only WebGPU keeps the caches of a decoder on the device: on an H200 it is faster at every step.
 */
const PROVIDERS = ['webgpu', 'cuda', 'cpu'] as const
export type Provider = (typeof PROVIDERS)[number]
export type GpuProvider = Exclude<Provider, 'cpu'>
const GPU_PROVIDERS = PROVIDERS.filter((provider): provider is GpuProvider => provider !== 'cpu')

export interface ProviderChoice {
  readonly provider: Provider
  /** Why this provider was chosen, and why the faster ones were not. */
  readonly why: string
  /** Times of the probe; absent on the CPU. */
  readonly times?: ProbeTimes
}

/** Milliseconds of one run of the probe's last graph on the GPU, and on all cores of the CPU. */
export interface ProbeTimes {
  readonly gpu: number
  readonly cpu: number
}

/** The only message of the probe's process. Left: why the provider does not work. */
export type ProbeAnswer = Either<string, ProbeTimes>

/**
 * A device that takes this many times as long as the CPU for the small graph does not get the large graph. An H200 took
 * 4 times as long as 16 cores; a GPU that two cores emulate took 900 times as long as these.
 */
const HOPELESS = 100

/**
 * Compares a GPU with the CPU on the small graph, and then on the large one. Only the large graph shows whether a real
 * GPU is faster: for the small one it needs most of the time for copies and for starting its programs.
 */
export const compareTwice = async (compare: (shape: ProbeShape) => Promise<ProbeTimes>): Promise<ProbeTimes> => {
  const times = await compare(SMALL_PROBE)
  return times.gpu > HOPELESS * times.cpu ? times : compare(LARGE_PROBE)
}

/** Steps of the choice. Tests replace them. */
export interface ProviderTrials {
  /** Returns why a provider cannot work, without loading a library; null when it may work. */
  readonly obstacle: (provider: GpuProvider) => string | null
  readonly probe: (provider: GpuProvider, gpuId?: string) => Promise<ProbeAnswer>
}

/** Time limit of the probe. A driver that needs longer to compile two operators is too slow for a session. */
const PROBE_MS = 30_000
/** A longer reason is cut at its start. onnxruntime's messages begin with source files and end with the cause. */
const MAX_REASON_CHARACTERS = 160
const shortened = (reason: string): string => {
  const line = reason.replace(/\s+/g, ' ').trim()
  return line.length > MAX_REASON_CHARACTERS ? `…${line.slice(-MAX_REASON_CHARACTERS)}` : line
}

/** Folder of onnxruntime's native libraries. The package lacks the library for CUDA (docs/operate/gpu.md). */
const libraryFolder = (): string => {
  const entry = dirname(fileURLToPath(import.meta.resolve('onnxruntime-node')))
  return join(entry, '..', 'bin', 'napi-v6', process.platform, process.arch)
}

const deviceNames = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** On Linux each usable GPU is a file. Without such a file, a graphics adapter is only emulated by the CPU. */
const hasDevice = (provider: GpuProvider): boolean => {
  if (process.platform !== 'linux') return true
  const root = deviceNames('/dev')
  if (root.includes('dxg') || root.some((name) => /^nvidia\d+$/.test(name))) return true
  return provider === 'webgpu' && deviceNames('/dev/dri').some((name) => name.startsWith('renderD'))
}

const NO_DEVICE = 'no device'

/** Reports a missing library only if there is a device for it. */
const obstacle: ProviderTrials['obstacle'] = (provider) => {
  if (!hasDevice(provider)) return NO_DEVICE
  const isMissing = provider === 'cuda' && !existsSync(join(libraryFolder(), 'libonnxruntime_providers_cuda.so'))
  return isMissing ? 'its library is not installed (docs/operate/gpu.md)' : null
}

/** Runs the probe in a separate process, because a driver may crash or hang. */
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
    child.once('exit', (code, signal) => {
      end(E.left(`its driver ended the test process (${signal ?? `exit code ${code}`})`))
    })
  })

/** Left: why the provider is not used. */
const tryOut = async (
  provider: GpuProvider,
  { obstacle: obstacleOf, probe }: ProviderTrials,
  gpuId: string | undefined,
): Promise<Either<string, ProbeTimes>> => {
  const found = obstacleOf(provider)
  if (found !== null) return E.left(found)
  const times = await probe(provider, gpuId)
  if (E.isLeft(times)) return E.left(shortened(times.left))
  const { gpu, cpu } = times.right
  // A GPU that the CPU emulates also computes correctly. Only its speed shows that it is no real GPU.
  return gpu < cpu
    ? times
    : E.left(`its adapter is slower than the CPU (${gpu.toFixed(1)} ms instead of ${cpu.toFixed(1)} ms)`)
}

/**
 * Returns the first of webgpu and cuda that works on this machine and is faster than the CPU, else cpu. Without a GPU
 * device, the choice takes a few milliseconds.
 *
 * @param gpuId UUID of the only GPU that may be used. Only CUDA can be limited to one GPU, so webgpu is not tried.
 */
export const chooseProvider = async (
  trials: ProviderTrials = { obstacle, probe: probeProvider },
  gpuId?: string,
): Promise<ProviderChoice> => {
  const named = PROVIDERS.find((provider) => provider === process.env[TEST_PROVIDER])
  if (named !== undefined) return { provider: named, why: `${TEST_PROVIDER} names it` }
  const reasons: Array<string> = []
  for (const provider of GPU_PROVIDERS) {
    if (gpuId !== undefined && provider === 'webgpu') continue
    const tried = await tryOut(provider, trials, gpuId)
    if (E.isRight(tried)) {
      const times = tried.right
      const why = `a test graph takes ${times.gpu.toFixed(1)} ms, on the CPU ${times.cpu.toFixed(1)} ms`
      return { provider, why: [why, ...reasons].join('; '), times }
    }
    reasons.push(`${provider}: ${tried.left}`)
  }
  const hasNoDevice = reasons.every((reason) => reason.endsWith(`: ${NO_DEVICE}`))
  return { provider: 'cpu', why: hasNoDevice ? 'no GPU was found' : reasons.join('; ') }
}
