import type { ToWorker, WorkerLink } from '../../ports/live-links.ts'

/** The messages of a link that come from senders of another process. */
export type FromSender = Extract<ToWorker, { readonly kind: 'sender' | 'text' | 'binary' | 'gone' }>

/** A link that this worker has accepted, as the senders on it use it. */
export interface ServedLink {
  readonly liveId: number
  readonly term: number
  /** The link keeps the order of replies and captions. */
  readonly link: Pick<WorkerLink, 'send' | 'buffered'>
}

/** The senders that reach this worker through links. */
export interface LinkSenders {
  /** Call this when the link was answered with `here`. Returns the receiver of the messages of its senders. */
  readonly open: (served: ServedLink) => {
    readonly message: (message: FromSender) => void
    /** Called when the link is closed, so its sender is lost. No message follows. */
    readonly closed: () => void
  }
}
