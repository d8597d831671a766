import { hasServers, type Settings } from '../infrastructure/settings/settings.ts'
import { startInCluster } from './compose/cluster.ts'
import type { RunningService } from './compose/service.ts'
import { startSingle } from './compose/single.ts'

/**
 * Starts the service part by part. If a part fails, closes the earlier parts and throws an Error for the user.
 * `onReplaced` is called, even during the start, when another process has replaced this process. This process must
 * then exit.
 */
export const startService = (settings: Settings, onReplaced: (reason: string) => void): Promise<RunningService> =>
  hasServers(settings) ? startInCluster(settings, onReplaced) : startSingle(settings, onReplaced)
