import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { SenderRefusal } from '../../../application/ports/peers/live-links.ts'
import type { LiveSessions } from '../../../application/sessions/runs/socket-sessions.ts'
import type { Incoming } from '../incoming.ts'
import { createSender } from './sender.ts'
import type { SenderOptions } from './sender.ts'

/** Whoever was given a live's one place, before there is a socket. */
export interface PlacedSender {
  readonly serve: (options: SenderOptions) => Incoming
  /** Its socket never opened. */
  readonly abandoned: () => void
}

/** Gives out the places of senders. */
export type PlaceSender = (liveId: number) => Promise<Either<SenderRefusal, PlacedSender>>

/** Why there is no place, as every process says it. */
export const whyNoPlace = (
  refusal: Extract<Awaited<ReturnType<ReturnType<LiveSessions['attachSender']>>>, { readonly _tag: 'Left' }>['left'],
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

/** Places in lives that this process runs. */
export const placeHere =
  ({ attachSender }: Pick<LiveSessions, 'attachSender'>): PlaceSender =>
  async (liveId) => {
    const attached = await attachSender(liveId)()
    if (E.isLeft(attached)) return E.left(whyNoPlace(attached.left))
    const session = attached.right
    return E.right({ serve: (options) => createSender(session, options), abandoned: () => session.abandoned() })
  }
