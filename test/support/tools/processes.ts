import { readFileSync, readdirSync } from 'node:fs'

/** Is there such a process, and is it no zombie? Linux. */
export const isRunning = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Ids of the processes whose process group `pid` leads: a puller and its decoder. Linux. */
export const processGroupOf = (pid: number): ReadonlyArray<number> =>
  readdirSync('/proc').map(Number).filter((candidate) => {
    try {
      const [, , group] = readFileSync(`/proc/${candidate}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
      return Number(group) === pid && isRunning(candidate)
    } catch {
      return false
    }
  })
