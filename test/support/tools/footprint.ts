import { readFileSync, readdirSync } from 'node:fs'

/** The resources of a process and its children. Linux only. */
export interface Footprint {
  /** Memory of the process in megabytes. */
  readonly own: number
  /** Memory of its children in megabytes. */
  readonly children: number
  /** Number of open files and sockets of the process. */
  readonly descriptors: number
  /** Number of its children. */
  readonly processes: number
}

const megabytes = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}

/** Returns the ids of the processes that any thread of the process started. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    const children = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
    return children.split(' ').map(Number).filter((child) => child > 0)
  })

export const footprintOf = (pid: number): Footprint => {
  const children = childrenOf(pid)
  return {
    own: megabytes(pid),
    children: children.reduce((sum, child) => sum + megabytes(child), 0),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    processes: children.length,
  }
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Medians of one member in the second and in the last quarter of a run. The first quarter is the warm-up. */
type Growth = readonly [second: number, last: number]

/** Returns the medians of one member in the second and in the last quarter of the samples. */
export const quartersOf = (samples: ReadonlyArray<Footprint>, member: keyof Footprint): Growth => {
  const quarter = Math.floor(samples.length / 4)
  const medianFrom = (start: number): number =>
    median(samples.slice(start, start + quarter).map((sample) => sample[member]))
  return [medianFrom(quarter), medianFrom(samples.length - quarter)]
}

/** Samples a process every `everyMs` milliseconds while `act` runs. */
export const sampleFootprints = async (
  pid: number,
  everyMs: number,
  act: () => Promise<void>,
): Promise<ReadonlyArray<Footprint>> => {
  const samples: Array<Footprint> = []
  const timer = setInterval(() => samples.push(footprintOf(pid)), everyMs)
  try {
    await act()
  } finally {
    clearInterval(timer)
  }
  return samples
}

/** The service may grow by 5 % a day. A short test run may grow by more, because the process still warms up. */
const MAX_GROWTH = 1.1
/** Memory grows and shrinks in steps of this size. */
const STEP_MB = 12

/** Returns whether the last quarter is at most as large as the second quarter, within the tolerance. */
export const isFlat = ([second, last]: Growth): boolean => last <= second * MAX_GROWTH + STEP_MB
export const describeGrowth = ([second, last]: Growth): string => `${second.toFixed(0)} → ${last.toFixed(0)}`
