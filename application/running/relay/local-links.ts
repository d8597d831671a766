import * as E from 'fp-ts/lib/Either.js'
import type { LinkEvents, LinkHandler, LiveLink, LiveLinks, WorkerLink } from '../../ports/live-links.ts'

const openLocally = (handler: LinkHandler, liveId: number, events: LinkEvents): LiveLink => {
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

/** Adds links to the worker of this process, which use function calls. Links to other processes use `links`. */
export const withLocalWorker = (
  links: LiveLinks,
  own: { readonly incarnation: string; readonly handler: LinkHandler },
): LiveLinks => ({
  open: (to, liveId, events) =>
    to.incarnation === own.incarnation ? openLocally(own.handler, liveId, events) : links.open(to, liveId, events),
  end: async (to, message, limitMs) =>
    to.incarnation === own.incarnation
      ? E.right(await own.handler.end(message))
      : await links.end(to, message, limitMs),
  close: links.close,
})
