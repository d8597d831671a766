import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { watchLoop } from '../../infrastructure/observability/loop-watch.ts'
import { createOperationsApp } from '../http/app.ts'
import { createObserverCheck } from '../http/clients/observers.ts'
import { createRequestLimits } from '../http/clients/request-limits.ts'
import { createHttpServer } from '../http/connections/server.ts'
import { WAITING_LIMITS } from '../http/connections/waiting-connections.ts'
import { assemble } from './assemble.ts'
import { type Front, urlOf } from './front.ts'
import { healthOf } from './health.ts'
import type { Service } from './service.ts'

/** Serves health and metrics of a process without the role `api`. `stop` drains its sessions first. */
export const openOperationsFront = (service: Service): Promise<Front> =>
  assemble(async (opened) => {
    await service.resume()
    const { settings, environment, timers, logger, version } = service.foundation
    let isDraining = false
    const health = healthOf(service, () => isDraining)
    const limits = createRequestLimits(environment, settings.rateLimit)
    const mayObserve = createObserverCheck(settings.metricsToken)
    const handle = createOperationsApp({ ...health, mayObserve, limits, settings, version, logger }).callback()
    const trustedProxies = settings.trustedProxies ?? []
    const options = { logger, trustedProxies, waiting: WAITING_LIMITS }
    const server = createHttpServer((request, response) => void handle(request, response), options)
    server.listen(settings.port, settings.host)
    await once(server, 'listening')
    server.on('error', (error) => logger.error({ err: error }, 'connection not accepted'))
    opened({
      stop: async () => {
        const closed = once(server, 'close')
        server.close()
        server.closeAllConnections()
        await closed
      },
    })
    const unwatchLoop = watchLoop({ timers, monotonic: environment.monotonic, logger })
    opened({ stop: async () => unwatchLoop() })
    opened({
      stop: async () => {
        isDraining = true
        await service.drain()
      },
    })
    void service.readSide.projector.finishRebuilds()
    return { url: urlOf(server.address() as AddressInfo), setupLink: null }
  })
