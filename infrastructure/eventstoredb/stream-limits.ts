import { WrongExpectedVersionError, type StreamMetadata as ServerMetadata } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, StoreUnavailable } from '../../application/ports/event-store.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { Calls } from './calls.ts'
import { reasonOf, unavailable } from './failures.ts'

const ATTEMPTS = 3
interface Metadata {
  readonly revision: bigint | 'no_stream'
  /** Members as stored, their names with `$`. */
  readonly members: Readonly<Record<string, unknown>>
}

interface Parts {
  readonly calls: Calls
  readonly logger: Logger | undefined
}

/** Read from the metadata's own stream: the client's answer for it names a wrong revision. */
export const metadataOf = async (calls: Calls, stream: string): Promise<E.Either<StoreUnavailable, Metadata>> => {
  const found = await calls.read((client, options) =>
    client.readStream(`$$${stream}`, { ...options, direction: 'backwards', fromRevision: 'end', maxCount: 1 }),
  )
  if (E.isLeft(found)) return found
  const event = found.right[0]?.event
  if (event === undefined) return E.right({ revision: 'no_stream', members: {} })
  return E.right({ revision: event.revision, members: event.data as Record<string, unknown> })
}

/** `$tb`, the first revision that is read, is then the largest there can be, which a double does not hold. */
const isDeleted = ({ members: { $tb } }: Metadata): boolean => typeof $tb === 'number' && !Number.isSafeInteger($tb)

/** Limits of streams, and their deletion: both are members of one metadata event, and setting one must not undo the other. */
export const createStreamLimits = ({ calls, logger }: Parts): Pick<EventStore, 'setMetadata' | 'deleteStream'> => {
  /** Right true when it is done, false when somebody else wrote first. */
  const attempt = async (stream: string, write: Parameters<Calls['write']>[0]): Promise<E.Either<StoreUnavailable, boolean>> => {
    try {
      await calls.write(write)
      return E.right(true)
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return E.right(false)
      const reason = reasonOf(error)
      logger?.error({ stream, reason }, 'the event store did not take the limits of a stream')
      return E.left(unavailable(reason))
    }
  }

  const setMetadata: EventStore['setMetadata'] = (stream, { maxCount, maxAgeSeconds }) => async () => {
    for (let tries = 0; tries < ATTEMPTS; tries++) {
      const known = await metadataOf(calls, stream)
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
      const done = await attempt(stream, (client, options) => client.setStreamMetadata(stream, metadata, { ...options, expectedRevision }))
      if (E.isLeft(done)) return done
      if (done.right) return E.right(undefined)
    }
    return E.left(unavailable(`the limits of ${stream} are being changed by others`))
  }

  return {
    setMetadata,
    // Refused, whatever revision it has, only where there is no such stream: then nothing is left to do.
    deleteStream: (stream) => async () => {
      const done = await attempt(stream, (client, options) => client.deleteStream(stream, options))
      return E.isLeft(done) ? done : E.right(undefined)
    },
  }
}
