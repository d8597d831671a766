import { join } from 'node:path'
import { eventually } from '../tools/eventually.ts'
import type { TestService } from './service.ts'

/** The memory and timers of a process after a garbage collection. */
export interface Inspection {
  /** Timers that will fire, and timers that are still referenced. */
  readonly timers: number
  readonly heapMb: number
  readonly externalMb: number
}

/** Makes all services that this process starts later inspectable. */
export const prepareInspection = (): void => {
  const probe = join(import.meta.dirname, 'inspection-probe.ts')
  process.execArgv.push('--disable-warning=ExperimentalWarning', '--import', probe)
}

let inspections = 0

/** Inspects a service that was started after `prepareInspection`. */
export const inspect = (service: Pick<TestService, 'pid' | 'log'>): Promise<Inspection> => {
  inspections += 1
  process.kill(service.pid(), 'SIGUSR2')
  const pattern = new RegExp(`^\\{"inspection":${inspections},.*\\}$`, 'm')
  return eventually(() => {
    const line = pattern.exec(service.log())?.[0]
    if (line === undefined) throw new Error('the service has not printed the inspection')
    return JSON.parse(line) as Inspection
  }, { timeoutMs: 120_000 })
}
