import { readFileSync, readdirSync } from 'node:fs'

/** Returns whether the process exists and is not a zombie. Linux only. */
export const isRunning = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Returns the ids of the processes in the process group `pid`, such as a puller and its decoder. Linux only. */
export const processGroupOf = (pid: number): ReadonlyArray<number> =>
  readdirSync('/proc').map(Number).filter((candidate) => {
    try {
      const [, , group] = readFileSync(`/proc/${candidate}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
      return Number(group) === pid && isRunning(candidate)
    } catch {
      return false
    }
  })
