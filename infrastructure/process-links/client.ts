import * as E from 'fp-ts/lib/Either.js'
import { WebSocket } from 'ws'
import type { LinkEvents, LiveLink, LiveLinks, Peer } from '../../application/ports/live-links.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { afterTimeout } from '../../application/waiting.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { parseAddress } from './address.ts'
import { describeRefusal, requestSessionEnd } from './session-end-request.ts'
import { createLinkEndpoint, SOCKET_OPTIONS } from './link-endpoint.ts'
import { decodeFromWorker } from './messages.ts'
import { pathOf } from './paths.ts'
import { preSharedKey } from './pre-shared-key.ts'
import { createThrottledWarnings } from './throttled-warnings.ts'

/** Timeout for opening a link. */
const DIAL_MS = 2000

interface LiveLinksOptions {
  readonly masterKey: Uint8Array
  readonly logger: Logger
  readonly timers: Timers
}

/** Creates the client for the workers of other processes. It connects on the first use. */
export const createLiveLinks = ({ masterKey, logger, timers }: LiveLinksOptions): LiveLinks => {
  const key = preSharedKey(masterKey)
  const warnings = createThrottledWarnings(logger, timers)
  const links = new Set<LiveLink>()
  /** Resolves the promise of `close`; null until `close` is called. */
  let allClosed: (() => void) | null = null

  /** Returns a link that does not dial and reports that it is closed. */
  const failedLink = ({ closed }: LinkEvents, why: string): LiveLink => {
    setImmediate(closed, why)
    return { send: () => undefined, buffered: () => 0, close: () => undefined }
  }

  const open = (to: Peer, liveId: number, events: LinkEvents): LiveLink => {
    if (allClosed !== null) return failedLink(events, 'this process is stopping')
    const address = parseAddress(to.address)
    if (address === null) return failedLink(events, `${to.name} has no valid address: "${to.address}"`)
    const path = pathOf({ incarnation: to.incarnation, liveId, action: 'link' })
    const socket = new WebSocket(`wss://${to.address}${path}`, {
      ...SOCKET_OPTIONS,
      createConnection: () => key.dial(address.host, address.port),
      // Masking protects against confused proxies. This connection is encrypted end to end, so a zero mask saves time.
      generateMask: (mask) => void mask.fill(0),
    })
    const cancelDial = afterTimeout(timers, DIAL_MS, () => link.cut(`${to.name} does not answer at ${to.address}`))
    socket.once('open', cancelDial)
    socket.once('unexpected-response', (request, { statusCode }) => {
      link.cut(describeRefusal(statusCode ?? 0, to))
      request.destroy()
    })
    const link = createLinkEndpoint({
      socket,
      peer: to.name,
      decode: decodeFromWorker,
      message: events.message,
      closed: (why) => {
        cancelDial()
        links.delete(link)
        if (links.size === 0) allClosed?.()
        events.closed(why)
      },
      unknown: (kind) => warnings.warn('a worker sent a message of an unknown kind', { worker: to.name, kind }),
      timers,
    })
    links.add(link)
    return link
  }

  return {
    open,
    end: async (to, message, limitMs) => {
      const address = parseAddress(to.address)
      const unreachable = (reason: string) => E.left({ _tag: 'Unreachable', reason } as const)
      if (address === null) return unreachable(`${to.name} has no valid address: "${to.address}"`)
      try {
        return E.right(await requestSessionEnd(key.dial(address.host, address.port), to, message, limitMs, timers))
      } catch (error) {
        return unreachable(messageOf(error))
      }
    },
    close: async () => {
      warnings.close()
      if (allClosed !== null) return
      await new Promise<void>((resolve) => {
        allClosed = resolve
        if (links.size === 0) resolve()
        for (const link of links) link.close()
      })
    },
  }
}
