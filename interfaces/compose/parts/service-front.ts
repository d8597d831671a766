import type { Listeners } from '../../../application/lives/queries/get-activity.ts'
import { startLoadHistory } from '../../../application/load/load-history.ts'
import { inRequest } from '../../../infrastructure/node/request-context.ts'
import { createObserverCheck } from '../../http/clients/observers.ts'
import { assemble } from '../assemble.ts'
import { openControl } from '../control.ts'
import { openFront } from '../front.ts'
import { createHealth } from '../health.ts'
import { callsOf } from './calls.ts'
import type { Parts } from './calls.ts'

/**
 * Opens the port for clients and the control socket in the data directory. `stop` first refuses new sessions and new
 * sockets, and waits up to DRAIN_TIMEOUT for open sessions.
 */
export const openServiceFront = (parts: Parts) =>
  assemble(async (opened) => {
    const { foundation, engines, writeSide, readSide, running } = parts
    const { settings, environment, timers, logger, version, log, keyring, stores } = foundation
    let isDraining = false
    const draining = (): boolean => isDraining

    const health = createHealth({
      ...running, ...engines, admission: writeSide.admission, projector: readSide.projector, log, keyring,
      store: readSide.storeWatch, readModels: stores, leaderChanges: stores.leaderChanges, draining,
    })
    // The routes are created before the sockets, which replace this placeholder.
    let sockets: Listeners = { of: () => 0, all: () => 0 }
    const listeners: Listeners = { of: (liveId) => sockets.of(liveId), all: () => sockets.all() }
    const load = startLoadHistory({ ...running, admission: writeSide.admission, listeners, environment, timers })
    opened({ stop: async () => load.stop() })
    const calls = { ...callsOf(parts, draining, listeners), recentLoad: load.recent }
    const mayObserve = createObserverCheck(settings.metricsToken)
    const http = { ...calls, ...health, mayObserve, settings, version, logger, inRequest, budget: foundation.budget }

    const closing: Array<() => Promise<void>> = []
    opened({
      stop: async () => {
        await Promise.all(closing.map((close) => close()))
      },
    })
    const { members } = stores
    const isServedElsewhere = (): boolean =>
      members.all().some(({ incarnation, roles, state }) =>
        incarnation !== members.self.incarnation && roles.includes('api') && state === 'up')
    const front = await openFront({ ...http, ...running.access, environment, timers, draining, isServedElsewhere })
    sockets = front.listeners
    closing.push(front.close)
    const control = { ...http, mayObserve: createObserverCheck(null), projector: readSide.projector }
    closing.push(await openControl(control, settings.dataDir))
    running.setOwnPort(Number(new URL(front.url).port))

    opened({
      stop: async () => {
        isDraining = true
        await running.drain()
      },
    })
    return { url: front.url }
  })
