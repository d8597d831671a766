import type { ToWorker, WorkerLink } from '../../ports/peers/live-links.ts'

/** The messages of a link that come from senders of another process. */
export type FromSender = Extract<ToWorker, { readonly kind: 'sender' | 'text' | 'binary' | 'gone' }>

/** A link that this worker has accepted, as the senders on it use it. */
export interface ServedLink {
  readonly liveId: number
  /** The worker's term for the session. */
  readonly term: number
  /** Replies and captions arrive in the order in which they are sent. */
  readonly link: Pick<WorkerLink, 'send' | 'buffered'>
}

/** The senders that reach this worker through links. */
export interface LinkSenders {
  /** The link was answered with `here`. The messages of its senders follow in order. */
  readonly open: (served: ServedLink) => {
    readonly message: (message: FromSender) => void
    /** The link is closed: its sender is lost. No message follows. */
    readonly closed: () => void
  }
}

/** For a worker without senders in other processes. */
export const NO_SENDERS: LinkSenders = { open: () => ({ message: () => undefined, closed: () => undefined }) }
