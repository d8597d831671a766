import { Metadata, status, type StatusObject } from '@grpc/grpc-js'
import shared, { type StreamIdentifier, type UUID } from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type AppendReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { LogRecord } from '../log/event-log.ts'
import type { ProposedEvent } from '../log/log-file.ts'

/** Ticks of 100 ns (the unit of an event's time) per millisecond. */
const TICKS = 10_000n

export const nameOf = (identifier: StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString()

export const identifierOf = (stream: string): StreamIdentifier => {
  const identifier = new shared.StreamIdentifier()
  identifier.setStreamName(Uint8Array.from(Buffer.from(stream)))
  return identifier
}

const uuidOf = (text: string): UUID => {
  const uuid = new shared.UUID()
  uuid.setString(text)
  return uuid
}

export const proposedEvent = (message: AppendReq.ProposedMessage): ProposedEvent => ({
  id: message.getId()?.getString() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  isJson: message.getMetadataMap().get('content-type') === 'application/json',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
})

/** The message with which reads and subscriptions deliver a record. */
export const eventResponse = (record: LogRecord): ReadResp => {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
  recorded.setId(uuidOf(record.id))
  recorded.setStreamIdentifier(identifierOf(record.stream))
  recorded.setStreamRevision(String(record.revision))
  recorded.setPreparePosition(String(record.position))
  recorded.setCommitPosition(String(record.position))
  recorded.getMetadataMap().set('type', record.type)
  recorded.getMetadataMap().set('created', String(BigInt(record.at) * TICKS))
  recorded.getMetadataMap().set('content-type', record.isJson ? 'application/json' : 'application/octet-stream')
  recorded.setCustomMetadata(Uint8Array.from(record.metadata))
  recorded.setData(Uint8Array.from(record.data))
  const event = new streams.ReadResp.ReadEvent()
  event.setEvent(recorded)
  event.setCommitPosition(String(record.position))
  const response = new streams.ReadResp()
  response.setEvent(event)
  return response
}

export const checkpointResponse = (commit: number, prepare: number): ReadResp => {
  const checkpoint = new streams.ReadResp.Checkpoint()
  checkpoint.setCommitPosition(String(commit))
  checkpoint.setPreparePosition(String(prepare))
  const response = new streams.ReadResp()
  response.setCheckpoint(checkpoint)
  return response
}

/** An error of the server: a status, and details in the trailers. */
export type Failure = Partial<StatusObject> & Pick<StatusObject, 'code' | 'details' | 'metadata'>

const failure = (code: status, details: string, trailers: Readonly<Record<string, string>> = {}): Failure => {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value)
  return { code, details, metadata }
}

export const tooLargeFailure = (bytes: number): Failure =>
  failure(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytes} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(bytes),
  })

export const wrongVersionFailure = (stream: string, expected: bigint, actual: bigint): Failure =>
  failure(
    status.FAILED_PRECONDITION,
    `Delete failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${expected}, ` +
      `Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': String(expected),
      'actual-version': String(actual),
    },
  )

export const accessDenied = (): Failure =>
  failure(status.UNAUTHENTICATED, 'Access Denied', { exception: 'access-denied' })

/** The answer of the server to a request that causes an internal exception. */
export const thrownFailure = (details = 'Exception was thrown by handler.'): Failure => failure(status.UNKNOWN, details)

export const notLeaderFailure = ({ host, port }: { readonly host: string; readonly port: number }): Failure =>
  failure(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader', 'leader-endpoint-host': host, 'leader-endpoint-port': String(port),
  })

export const notReadyFailure = (): Failure => failure(status.UNAVAILABLE, 'Server Is Not Ready')

export const forwardTimeout = (): Failure => failure(status.ABORTED, 'Operation timed out: Forwarding timeout')
