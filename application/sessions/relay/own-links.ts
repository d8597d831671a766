import * as E from 'fp-ts/lib/Either.js'
import type { LinkEvents, LinkHandler, LiveLink, LiveLinks, WorkerLink } from '../../ports/peers/live-links.ts'

const openWithin = (handler: LinkHandler, liveId: number, events: LinkEvents): LiveLink => {
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    served.closed()
    events.closed('closed')
  }
  const workerSide: WorkerLink = {
    send: (message) => {
      if (isOpen) events.message(message)
    },
    buffered: () => 0,
    close,
  }
  const served = handler.open(liveId, workerSide)
  return {
    send: (message) => {
      if (isOpen) served.message(message)
    },
    buffered: () => 0,
    close,
  }
}

/**
 * Links that reach the worker in this process (`incarnation`) by function calls, and all others as `links` does: whoever
 * runs a live, its sockets see the same.
 */
export const withOwnWorker = (
  links: LiveLinks,
  own: { readonly incarnation: string; readonly handler: LinkHandler },
): LiveLinks => ({
  open: (to, liveId, events) =>
    to.incarnation === own.incarnation ? openWithin(own.handler, liveId, events) : links.open(to, liveId, events),
  end: async (to, message, limitMs) =>
    to.incarnation === own.incarnation ? E.right(await own.handler.end(message)) : await links.end(to, message, limitMs),
  close: links.close,
})
