import { readFileSync } from 'node:fs'
import type { Round } from './harness.ts'

/** Clock ticks per second in /proc. The value is 100 on every Linux that Node supports. */
const TICKS_PER_SECOND = 100

/** Returns the child processes of the main thread, which starts all processes of this project. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter((text) => text !== '').map(Number)

/** Returns user and system time of a process with its threads and the children that it has waited for. */
const ownSeconds = (pid: number): number => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is a name in brackets that may contain spaces, so the code counts the fields after it. The times
  // are the fields 14 to 17 of the whole line.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SECOND
}

const treeSeconds = (pid: number): number =>
  childrenOf(pid).reduce((sum, child) => sum + treeSeconds(child), ownSeconds(pid))

/** Returns the CPU seconds of one process, with only the children that it has waited for. Null without /proc. */
export const cpuSecondsOf = (pid: number): number | null => {
  try {
    return ownSeconds(pid)
  } catch {
    return null
  }
}

/** Returns the CPU seconds of this process and all its descendants. Null without /proc. */
const cpuSeconds = (): number | null => {
  try {
    return treeSeconds(process.pid)
  } catch {
    return null
  }
}

/** Measures one round of `run`, which does `work` units. */
export const timed = async (work: number, run: () => Promise<void> | void): Promise<Round> => {
  const [began, cpu] = [performance.now(), cpuSeconds()]
  await run()
  const [ended, spent] = [performance.now(), cpuSeconds()]
  return { work, seconds: (ended - began) / 1000, cpuSeconds: cpu === null || spent === null ? null : spent - cpu }
}
