import { randomBytes } from 'node:crypto'
import type { Timers } from '../../application/ports/timers.ts'
import { createLiveLinks } from '../../infrastructure/process-links/client.ts'
import { openInternalServer } from '../../infrastructure/process-links/server.ts'
import { openTcpProxy, type TcpProxy } from '../support/tools/tcp-proxy.ts'
import { createMemoryLinks } from '../support/doubles/memory/links.ts'
import { createRecordingLogger } from '../support/doubles/loggers.ts'
import { brokenLinksContract } from './broken-links.contract.ts'
import { liveLinksContract } from './live-links.contract.ts'
import type { LinksWorld } from './live-links-support.ts'

const memoryWorld = async (timers: Timers): Promise<LinksWorld> => {
  const net = createMemoryLinks({ timers })
  return {
    serve: async (self, handler) => {
      const { peer, close } = net.serve(self, handler)
      return { peer, close: async () => close() }
    },
    links: net.linksOf('api-1'),
    cut: () => net.cut('api-1', 'worker-1'),
    mend: () => net.mend('api-1', 'worker-1'),
    reset: () => net.breakLinks('api-1', 'worker-1'),
    close: async () => undefined,
  }
}

const loopbackWorld = async (timers: Timers): Promise<LinksWorld> => {
  const masterKey = randomBytes(32)
  const logger = createRecordingLogger()
  const links = createLiveLinks({ masterKey, logger, timers })
  const closes: Array<() => Promise<void>> = []
  const proxies: Array<TcpProxy> = []
  return {
    serve: async (self, handler) => {
      const server = await openInternalServer({
        host: '127.0.0.1',
        port: 0,
        url: null,
        masterKey,
        self,
        handler,
        logger,
        timers,
      })
      const proxy = await openTcpProxy(() => server.port)
      proxies.push(proxy)
      closes.push(server.close)
      return { peer: { ...self, address: proxy.address }, close: server.close }
    },
    links,
    cut: () => proxies.forEach(({ cut }) => cut()),
    mend: () => proxies.forEach(({ mend }) => mend()),
    reset: () => proxies.forEach(({ reset }) => reset()),
    close: async () => {
      await links.close()
      for (const close of closes) await close()
      for (const { close } of proxies) await close()
    },
  }
}

liveLinksContract('memory', memoryWorld)
brokenLinksContract('memory', memoryWorld, 100)
liveLinksContract('loopback', loopbackWorld)
brokenLinksContract('loopback', loopbackWorld, 40)
