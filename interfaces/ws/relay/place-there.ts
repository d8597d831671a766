import * as E from 'fp-ts/lib/Either.js'
import type { Environment, Logger } from '../../../application/ports/environment.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import type { RemoteSender } from '../../../application/sessions/relay/remote-sender.ts'
import type { PlaceSender } from '../senders/places.ts'
import { createRelayedSender } from './relayed-sender.ts'

interface PlaceThereOptions {
  /** The links of this process to lives; answers how the sender leaves them. */
  readonly links: { readonly sender: (liveId: number, sender: RemoteSender) => () => void }
  readonly environment: Pick<Environment, 'newId'>
  readonly timers: Timers
  readonly logger: Logger
  /** Bytes of a sender's audio that are kept for the next worker; 2 MiB unless told. */
  readonly mostKept?: number
}

/** Places in lives that any process runs, asked for over links. */
export const placeThere =
  ({ links, environment, ...options }: PlaceThereOptions): PlaceSender =>
  async (liveId) => {
    let leave = (): void => undefined
    const sender = createRelayedSender({ ...options, liveId, requestId: environment.newId(), leave: () => leave() })
    leave = links.sender(liveId, sender.onLink)
    const asked = await sender.asked
    if (asked !== 'admitted') return E.left(asked)
    return E.right({ serve: ({ connection }) => sender.serve(connection), abandoned: sender.abandoned })
  }
