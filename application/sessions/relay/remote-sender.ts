import type { FromWorker, LiveLink } from '../../ports/peers/live-links.ts'
import type { LiveStatus } from '../../ports/read-models.ts'

/** What of a link is for the senders of this process. */
export type ToSender = Extract<
  FromWorker,
  { readonly kind: 'admitted' | 'refused' | 'reply' | 'close' | 'hold' | 'heard' | 'covered' }
>

/** A link that the worker of the live has answered. */
export interface AnsweredLink {
  readonly link: Pick<LiveLink, 'send' | 'buffered'>
  readonly term: number
  readonly status: LiveStatus
}

/** Why there is no link: the worker said that the live is not its own, or it broke, or could not be reached. */
export type LinkLoss = 'elsewhere' | 'broken' | 'unreachable'

/**
 * A sender of this process, as the link of its live sees it. All senders of a live share one link: each hears all that
 * is for senders, and knows by the `requestId` of `admitted` and `refused` what is its own.
 */
export interface RemoteSender {
  /** The worker of this term has answered; at once where it had before. Comes again with each link that replaces one. */
  readonly linkUp: (up: AnsweredLink) => void
  /** In order, between `linkUp` and `linkDown` alone. */
  readonly message: (message: ToSender) => void
  /** The link is gone, or one more dial came to nothing; another one is tried by itself, in 0.1 to 1 s. */
  readonly linkDown: (loss: LinkLoss) => void
  /** The live has ended, as its listeners are told right then; there is no link any more. */
  readonly over: () => void
}
