import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { SenderRefusal } from '../../../application/ports/live-links.ts'
import type { LiveSessions } from '../../../application/running/socket-sessions.ts'
import type { Incoming } from '../incoming.ts'
import { createSender, type SenderOptions } from './sender-frames.ts'

/** A sender that is attached to its session, before its socket opens. A session has one sender at a time. */
export interface PlacedSender {
  readonly serve: (options: SenderOptions) => Incoming
  /** Call it when the socket does not open. */
  readonly abandoned: () => void
}

/** Attaches a sender to a session, in this process or in another one. */
export type PlaceSender = (liveId: number) => Promise<Either<SenderRefusal, PlacedSender>>

/** Converts an error of `attachSender` for a client. */
export const senderRefusalOf = (
  refusal: Extract<Awaited<ReturnType<LiveSessions['attachSender']>>, { readonly _tag: 'Left' }>['left'],
): SenderRefusal => {
  switch (refusal._tag) {
    case 'SenderAlreadyConnected':
      return 'already_connected'
    case 'LiveOver':
      return 'over'
    case 'StoreUnavailable':
    case 'DocumentsUnavailable':
    case 'KeyringUnavailable':
    case 'LogCorrupted':
    case 'EventTypeUnknown':
    case 'KeyErased':
    case 'KeyMissing':
    case 'Contended':
    case 'Superseded':
      return 'unavailable'
  }
}

export const placeLocally =
  ({ attachSender }: Pick<LiveSessions, 'attachSender'>): PlaceSender =>
  async (liveId) => {
    const attached = await attachSender(liveId)
    if (E.isLeft(attached)) return E.left(senderRefusalOf(attached.left))
    const session = attached.right
    return E.right({ serve: (options) => createSender(session, options), abandoned: () => session.abandoned() })
  }
