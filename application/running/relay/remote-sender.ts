import type { FromWorker, LiveLink } from '../../ports/live-links.ts'
import type { LiveStatus } from '../../ports/read-models.ts'

/** The messages of a link that are for the senders of this process. */
export type ToSender = Extract<
  FromWorker,
  { readonly kind: 'admitted' | 'refused' | 'reply' | 'close' | 'hold' | 'heard' | 'covered' }
>

/** A link that the worker of the session has answered. */
export interface AnsweredLink {
  readonly link: Pick<LiveLink, 'send' | 'buffered'>
  readonly term: number
  readonly status: LiveStatus
}

/** Why a link is down: the session runs elsewhere, the link broke, or the worker is unreachable. */
export type LinkLoss = 'elsewhere' | 'broken' | 'unreachable'

/**
 * A sender of this process, as the link of its session uses it. All senders of a session share one link. Each sender
 * receives all sender messages and recognises its own `admitted` and `refused` by their `requestId`.
 */
export interface RemoteSender {
  /** Called when the worker has answered: immediately for a link that is already up, and again for each new link. */
  readonly linkUp: (up: AnsweredLink) => void
  /** Receives messages in order, only between `linkUp` and `linkDown`. */
  readonly message: (message: ToSender) => void
  /** Called when the link went down or an attempt failed. The next attempt follows automatically after 0.1 to 1 s. */
  readonly linkDown: (loss: LinkLoss) => void
  /** Called when the session has ended and its link is closed. Listeners get the end at the same time. */
  readonly over: () => void
}
