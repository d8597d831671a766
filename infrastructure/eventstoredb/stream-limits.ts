import { WrongExpectedVersionError, type StreamMetadata as ServerMetadata } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, StoreUnavailable } from '../../application/ports/event-store.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { Calls } from './calls.ts'
import { reasonOf, unavailable } from './failures.ts'

const ATTEMPTS = 3
interface Metadata {
  readonly revision: bigint | 'no_stream'
  /** The stored members. The names of the server's own members begin with `$`. */
  readonly members: Readonly<Record<string, unknown>>
}

interface Parts {
  readonly calls: Calls
  readonly logger: Logger | undefined
}

/** Reads the metadata from its own stream, because `getStreamMetadata` of the client returns a wrong revision. */
export const metadataOf = async (calls: Calls, stream: string): Promise<E.Either<StoreUnavailable, Metadata>> => {
  const found = await calls.read((client, options) =>
    client.readStream(`$$${stream}`, { ...options, direction: 'backwards', fromRevision: 'end', maxCount: 1 }),
  )
  if (E.isLeft(found)) return found
  const event = found.right[0]?.event
  if (event === undefined) return E.right({ revision: 'no_stream', members: {} })
  return E.right({ revision: event.revision, members: event.data as Record<string, unknown> })
}

/**
 * `$tb` is the first readable revision of a stream. When the server deletes a stream, it sets `$tb` to the largest
 * 64-bit integer, which JavaScript does not count as a safe integer.
 */
const isDeleted = ({ members: { $tb } }: Metadata): boolean => typeof $tb === 'number' && !Number.isSafeInteger($tb)

/** Creates the operations that limit and delete streams. Both change the metadata and keep its other members. */
export const createStreamLimits = ({ calls, logger }: Parts): Pick<EventStore, 'setMetadata' | 'deleteStream'> => {
  /** Right true: done. Right false: another writer was first. */
  const attempt = async (
    stream: string,
    write: Parameters<Calls['write']>[0],
  ): Promise<E.Either<StoreUnavailable, boolean>> => {
    try {
      await calls.write(write)
      return E.right(true)
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return E.right(false)
      const reason = reasonOf(error)
      logger?.error({ stream, reason }, 'changing the limits of a stream failed')
      return E.left(unavailable(reason))
    }
  }

  const setMetadata: EventStore['setMetadata'] = async (stream, { maxCount, maxAgeSeconds }) => {
    for (let tries = 0; tries < ATTEMPTS; tries++) {
      const known = await metadataOf(calls, stream)
      if (E.isLeft(known)) return known
      // A metadata write would restore a deleted stream: the server replaces `$tb` with the next revision.
      if (isDeleted(known.right)) return E.right(undefined)
      const others = Object.entries(known.right.members).filter(([name]) => name !== '$maxCount' && name !== '$maxAge')
      const metadata: ServerMetadata = {
        ...Object.fromEntries(others),
        ...(maxCount === undefined ? {} : { maxCount }),
        ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
      }
      const expectedRevision = known.right.revision
      const done = await attempt(stream, (client, options) =>
        client.setStreamMetadata(stream, metadata, { ...options, expectedRevision }),
      )
      if (E.isLeft(done)) return done
      if (done.right) return E.right(undefined)
    }
    return E.left(unavailable(`other processes keep changing the limits of ${stream}`))
  }

  return {
    setMetadata,
    // Expects no revision, so the server refuses only if the stream does not exist. Then there is nothing to delete.
    deleteStream: async (stream) => {
      const done = await attempt(stream, (client, options) => client.deleteStream(stream, options))
      return E.isLeft(done) ? done : E.right(undefined)
    },
  }
}
