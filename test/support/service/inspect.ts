import { join } from 'node:path'
import { eventually } from '../tools/eventually.ts'
import type { TestService } from './service.ts'

/** What a process holds after everything that nobody holds was collected. */
export interface Inspection {
  /** That will fire, and those that something still refers to. */
  readonly timers: number
  readonly heapMb: number
  readonly externalMb: number
}

/** Services that this process starts from now on can be inspected. */
export const prepareInspection = (): void => {
  process.execArgv.push('--disable-warning=ExperimentalWarning', '--import', join(import.meta.dirname, 'inspection-probe.ts'))
}

let asked = 0

/** Looks into a service that was started after `prepareInspection`. */
export const inspect = (service: Pick<TestService, 'pid' | 'log'>): Promise<Inspection> => {
  asked += 1
  process.kill(service.pid(), 'SIGUSR2')
  const pattern = new RegExp(`^\\{"inspection":${asked},.*\\}$`, 'm')
  return eventually(() => {
    const line = pattern.exec(service.log())?.[0]
    if (line === undefined) throw new Error('not inspected')
    return JSON.parse(line) as Inspection
  }, { timeoutMs: 120_000 })
}
