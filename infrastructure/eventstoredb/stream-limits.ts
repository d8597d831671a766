import { WrongExpectedVersionError, type EventStoreDBClient, type StreamMetadata as ServerMetadata } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, StoreUnavailable } from '../../application/ports/event-store.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { Connection } from './connection.ts'
import { reasonOf, unavailable } from './failures.ts'
import { TimedOut, within, type Patience } from './patience.ts'
import { collectOrFail } from './reads.ts'

const ATTEMPTS = 3
interface Metadata {
  readonly revision: bigint | 'no_stream'
  /** Members as stored, their names with `$`. */
  readonly members: Readonly<Record<string, unknown>>
}

interface Parts {
  readonly client: EventStoreDBClient
  readonly credentials: Connection['credentials']
  readonly patience: Patience
  readonly logger: Logger | undefined
}

/** Read from the metadata's own stream: the client's answer for it names a wrong revision. */
export const metadataOf = async (client: EventStoreDBClient, patience: Patience, stream: string): Promise<E.Either<StoreUnavailable, Metadata>> => {
  const found = await collectOrFail(patience, () =>
    client.readStream(`$$${stream}`, { direction: 'backwards', fromRevision: 'end', maxCount: 1 }),
  )
  if (E.isLeft(found)) return found
  const event = found.right[0]?.event
  if (event === undefined) return E.right({ revision: 'no_stream', members: {} })
  return E.right({ revision: event.revision, members: event.data as Record<string, unknown> })
}

/** `$tb`, the first revision that is read, is then the largest there can be, which a double does not hold. */
const isDeleted = ({ members: { $tb } }: Metadata): boolean => typeof $tb === 'number' && !Number.isSafeInteger($tb)

/** Limits of streams, and their deletion: both are members of one metadata event, and setting one must not undo the other. */
export const createStreamLimits = ({ client, credentials, patience, logger }: Parts): Pick<EventStore, 'setMetadata' | 'deleteStream'> => {
  const options = () => ({ credentials, deadline: patience.limit() })

  /** Right true when it is done, false when somebody else wrote first. */
  const attempt = async (stream: string, write: () => Promise<unknown>): Promise<E.Either<StoreUnavailable, boolean>> => {
    try {
      await within(patience.limit(), write())
      patience.answered()
      return E.right(true)
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) {
        patience.answered()
        return E.right(false)
      }
      if (error instanceof TimedOut) patience.unanswered()
      const reason = reasonOf(error)
      logger?.error({ stream, reason }, 'the event store did not take the limits of a stream')
      return E.left(unavailable(reason))
    }
  }

  const setMetadata: EventStore['setMetadata'] = (stream, { maxCount, maxAgeSeconds }) => async () => {
    for (let tries = 0; tries < ATTEMPTS; tries++) {
      const known = await metadataOf(client, patience, stream)
      if (E.isLeft(known)) return known
      // Any write to its metadata brings a deleted stream back: the server then puts its next revision for `$tb`.
      if (isDeleted(known.right)) return E.right(undefined)
      const others = Object.entries(known.right.members).filter(([name]) => name !== '$maxCount' && name !== '$maxAge')
      const metadata: ServerMetadata = {
        ...Object.fromEntries(others),
        ...(maxCount === undefined ? {} : { maxCount }),
        ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
      }
      const expectedRevision = known.right.revision
      const done = await attempt(stream, () => client.setStreamMetadata(stream, metadata, { ...options(), expectedRevision }))
      if (E.isLeft(done)) return done
      if (done.right) return E.right(undefined)
    }
    return E.left(unavailable(`the limits of ${stream} are being changed by others`))
  }

  return {
    setMetadata,
    // Refused, whatever revision it has, only where there is no such stream: then nothing is left to do.
    deleteStream: (stream) => async () => {
      const done = await attempt(stream, () => client.deleteStream(stream, options()))
      return E.isLeft(done) ? done : E.right(undefined)
    },
  }
}
