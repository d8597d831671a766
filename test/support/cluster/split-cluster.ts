import type { ExecutionContext } from 'ava'
import { startCluster, type Cluster, type ClusterOptions, type ClusterProcess } from './cluster.ts'

/** Starts two workers, two API processes and a projector. */
export const startSplitCluster = async (
  t: ExecutionContext,
  settings: Readonly<Record<string, string>> = {},
  options: ClusterOptions = {},
): Promise<Cluster & { readonly apis: readonly [ClusterProcess, ClusterProcess] }> => {
  const cluster = await startCluster(t, options)
  const add = (name: string, role: string) => cluster.add(name, role, settings)
  await Promise.all([add('worker-1', 'worker'), add('worker-2', 'worker'), add('lists', 'projector')])
  return { ...cluster, apis: await Promise.all([add('api-1', 'api'), add('api-2', 'api')]) }
}
