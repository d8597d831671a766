import type { ToWorker, WorkerLink } from '../../ports/peers/live-links.ts'

/** What of a link is from the senders of another process. */
export type FromSender = Extract<ToWorker, { readonly kind: 'sender' | 'text' | 'binary' | 'gone' }>

/** A link that this worker has answered, as its senders use it. */
export interface ServedLink {
  readonly liveId: number
  /** In which this worker has the live. */
  readonly term: number
  /** Replies and the lines of the live come in the order in which they are sent. */
  readonly link: Pick<WorkerLink, 'send' | 'buffered'>
}

/** The senders that come to this worker through links. */
export interface LinkSenders {
  /** The link was answered with `here`: its senders are heard from now on, in order. */
  readonly open: (served: ServedLink) => {
    readonly message: (message: FromSender) => void
    /** The link is gone: whoever had the place through it is lost. Nothing comes behind it. */
    readonly closed: () => void
  }
}

/** For a worker whose lives have no senders in other processes. */
export const NO_SENDERS: LinkSenders = { open: () => ({ message: () => undefined, closed: () => undefined }) }
