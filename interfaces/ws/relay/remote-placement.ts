import * as E from 'fp-ts/lib/Either.js'
import type { Environment, Logger } from '../../../application/ports/environment.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import type { RemoteSender } from '../../../application/running/relay/remote-sender.ts'
import type { PlaceSender } from '../senders/sender-placement.ts'
import { createRelayedSender } from './relayed-sender.ts'

interface PlaceRemotelyOptions {
  /** Adds a sender to the link of a session, and returns the function that removes it. */
  readonly links: { readonly sender: (liveId: number, sender: RemoteSender) => () => void }
  readonly environment: Pick<Environment, 'newId'>
  readonly timers: Timers
  readonly logger: Logger
  /** Bytes of a sender's audio to keep for the next worker. The default is 2 MiB. */
  readonly maxKeptBytes?: number
}

/** Attaches senders to sessions of any process, over links. */
export const placeRemotely =
  ({ links, environment, ...options }: PlaceRemotelyOptions): PlaceSender =>
  async (liveId) => {
    let leave = (): void => undefined
    const sender = createRelayedSender({ ...options, liveId, requestId: environment.newId(), leave: () => leave() })
    leave = links.sender(liveId, sender.onLink)
    const outcome = await sender.firstOutcome
    if (outcome !== 'admitted') return E.left(outcome)
    return E.right({ serve: ({ connection }) => sender.serve(connection), abandoned: sender.abandoned })
  }
