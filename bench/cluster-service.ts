import { readFileSync } from 'node:fs'
import { createApiClient, type ApiClient } from '../interfaces/client/client.ts'
import { startCluster } from '../test/support/cluster/cluster.ts'
import { speakerAt } from '../test/support/cluster/numbered-session.ts'
import { childrenOf, cpuSecondsOf } from './cpu-time.ts'
import type { Round } from './harness.ts'

/** A service of several processes with all roles, on its own database servers. */
export interface ClusterService {
  readonly urls: ReadonlyArray<string>
  /** One API client per process, of a user with a high session limit. */
  readonly clients: ReadonlyArray<ApiClient>
  /** Runs one round and prints the CPU share of each process on stderr. `unit` names the work of the round. */
  readonly withShares: (unit: string, run: () => Promise<Round>) => Promise<Round>
  readonly close: () => Promise<void>
}

const kindOf = (pid: number): string => {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').toLowerCase()
  if (pid === process.pid) return 'clients'
  if (command.includes('mongodb-double')) return 'MongoDB double'
  return command.includes('eventstore') ? 'EventStoreDB' : 'others'
}

/** Returns the CPU seconds by process name. */
const spentBy = (pids: ReadonlyArray<number>, names: ReadonlyMap<number, string>): ReadonlyMap<string, number> =>
  new Map(pids.map((pid) => [names.get(pid) ?? kindOf(pid), cpuSecondsOf(pid) ?? Number.NaN]))

/** Starts `count` processes with an engine that returns numbered words. */
export const openCluster = async (count: number): Promise<ClusterService> => {
  const ends: Array<() => unknown> = []
  const earlier = new Set(childrenOf(process.pid))
  const cluster = await startCluster({ teardown: (end) => void ends.push(end) })
  const processes = []
  for (let number = 1; number <= count; number += 1)
    processes.push(await cluster.add(`process-${number}`, 'all', { LOG_LEVEL: 'error' }))
  const urls = processes.map(({ url }) => url())
  const { token } = await speakerAt(urls[0] ?? '')
  const names = new Map(processes.map(({ pid, name }) => [pid(), name]))
  const pids = [process.pid, ...childrenOf(process.pid).filter((pid) => !earlier.has(pid))]
  return {
    urls,
    clients: urls.map((url) => createApiClient({ url, ...(token === undefined ? {} : { token }) })),
    withShares: async (unit, run) => {
      const before = spentBy(pids, names)
      const round = await run()
      const share = ([name, seconds]: readonly [string, number]): string =>
        `${name} ${Math.round((100 * (seconds - (before.get(name) ?? 0))) / round.seconds)} %`
      const shares = [...spentBy(pids, names)].map(share).join(', ')
      console.error(`${count} × all: ${(round.work / round.seconds).toFixed(1)} ${unit} a second; of a core: ${shares}`)
      return round
    },
    close: async () => {
      for (const end of ends.toReversed()) await end()
    },
  }
}
