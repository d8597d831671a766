import { readFileSync, readdirSync } from 'node:fs'

/** What a process and those that it started hold. Linux. */
export interface Footprint {
  /** Of the process and of its children, in megabytes. */
  readonly own: number
  readonly children: number
  readonly descriptors: number
  readonly processes: number
}

const megabytes = (pid: number): number => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Processes that it started, by any of its threads. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').map(Number).filter((child) => child > 0))

export const footprintOf = (pid: number): Footprint => {
  const children = childrenOf(pid)
  return {
    own: megabytes(pid),
    children: children.reduce((sum, child) => sum + megabytes(child), 0),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    processes: children.length,
  }
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** The medians of one member in the second and in the last quarter of all samples. */
export const quartersOf = (samples: ReadonlyArray<Footprint>, member: keyof Footprint): readonly [second: number, last: number] => {
  const quarter = Math.floor(samples.length / 4)
  const of = (from: number): number => median(samples.slice(from, from + quarter).map((sample) => sample[member]))
  return [of(quarter), of(samples.length - quarter)]
}

/** Looks at a process every `everyMs` for as long as `act` takes. */
export const sampleFootprints = async (pid: number, everyMs: number, act: () => Promise<void>): Promise<ReadonlyArray<Footprint>> => {
  const samples: Array<Footprint> = []
  const timer = setInterval(() => samples.push(footprintOf(pid)), everyMs)
  try {
    await act()
  } finally {
    clearInterval(timer)
  }
  return samples
}

/** F21 has 5 % for a day; a short run still warms up, and memory is taken and given back in steps (megabytes). */
const GROWTH = 1.1
const STEP_MB = 12

export const isFlat = ([second, last]: readonly [number, number]): boolean => last <= second * GROWTH + STEP_MB
export const describeGrowth = ([second, last]: readonly [number, number]): string => `${second.toFixed(0)} → ${last.toFixed(0)}`
