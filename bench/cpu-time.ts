import { readFileSync } from 'node:fs'
import type { Round } from './harness.ts'

/** Ticks of /proc's times a second, on every Linux that Node runs on. */
const TICKS = 100

/** Of its first thread, which starts all that this project starts. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter((text) => text !== '').map(Number)

/** User and system time of a process, of its threads, and of the children that it has waited for. */
const ownSeconds = (pid: number): number => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field, a name in brackets, may hold anything; the times are fields 14 to 17.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS
}

const treeSeconds = (pid: number): number => childrenOf(pid).reduce((sum, child) => sum + treeSeconds(child), ownSeconds(pid))

/** CPU seconds of one process, its own children left out unless it has waited for them; null where there is no /proc. */
export const cpuSecondsOf = (pid: number): number | null => {
  try {
    return ownSeconds(pid)
  } catch {
    return null
  }
}

/** CPU seconds of this process and of all that it started; null where there is no /proc. */
const cpuSeconds = (): number | null => {
  try {
    return treeSeconds(process.pid)
  } catch {
    return null
  }
}

/** One round of `run`, which does `work`. */
export const timed = async (work: number, run: () => Promise<void> | void): Promise<Round> => {
  const [began, cpu] = [performance.now(), cpuSeconds()]
  await run()
  const [ended, spent] = [performance.now(), cpuSeconds()]
  return { work, seconds: (ended - began) / 1000, cpuSeconds: cpu === null || spent === null ? null : spent - cpu }
}
