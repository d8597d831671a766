import anyPb from 'google-protobuf/google/protobuf/any_pb.js'
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js'
import codePb from '@eventstore/db-client/generated/code_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import statusPb, { type Status } from '@eventstore/db-client/generated/status_pb.js'
import streams, { type BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { MAX_APPEND_BYTES, type AppendAnswer, type Expected } from '../log/append-rules.ts'
import { identifierOf } from './messages.ts'

export const expectedOfBatch = (options: BatchAppendReq.Options | undefined): Expected => {
  if (options?.hasStreamPosition() === true) return BigInt(options.getStreamPosition())
  if (options?.hasNoStream() === true) return 'no_stream'
  return options?.hasStreamExists() === true ? 'stream_exists' : 'any'
}

const wrongVersion = (expected: Expected, actual: bigint): Uint8Array => {
  const wrong = new shared.WrongExpectedVersion()
  if (actual < 0n) wrong.setCurrentNoStream(new emptyPb.Empty())
  else wrong.setCurrentStreamRevision(String(actual))
  if (expected === 'any') wrong.setExpectedAny(new emptyPb.Empty())
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new emptyPb.Empty())
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new emptyPb.Empty())
  else wrong.setExpectedStreamPosition(String(expected))
  return wrong.serializeBinary()
}

const tooLarge = (): Uint8Array => {
  const exceeded = new shared.MaximumAppendSizeExceeded()
  exceeded.setMaxappendsize(MAX_APPEND_BYTES)
  return exceeded.serializeBinary()
}

const errorStatus = (message: string, content: Uint8Array): Status => {
  const details = new anyPb.Any()
  details.pack(content, `event_store.client.${message}`)
  const error = new statusPb.Status()
  error.setCode(codePb.Code.UNKNOWN)
  error.setMessage(message)
  error.setDetails(details)
  return error
}

const errorOf = (answer: Exclude<AppendAnswer, { kind: 'done' }>, stream: string, expected: Expected): Status => {
  switch (answer.kind) {
    case 'wrong-version':
      return errorStatus('WrongExpectedVersion', wrongVersion(expected, answer.actual))
    case 'too-large':
      return errorStatus('MaximumAppendSizeExceeded', tooLarge())
    case 'bad-request':
      return errorStatus('BadRequest', new shared.BadRequest().serializeBinary())
    case 'tombstoned': {
      const deleted = new shared.StreamDeleted()
      deleted.setStreamIdentifier(identifierOf(stream))
      return errorStatus('StreamDeleted', deleted.serializeBinary())
    }
  }
}

/** The answer to one append on the shared stream of batch appends. */
export const batchResponse = (
  correlationId: string,
  stream: string,
  answer: AppendAnswer,
  expected: Expected,
): BatchAppendResp => {
  const response = new streams.BatchAppendResp()
  const id = new shared.UUID()
  id.setString(correlationId)
  response.setCorrelationId(id)
  response.setStreamIdentifier(identifierOf(stream))
  if (answer.kind !== 'done') {
    response.setError(errorOf(answer, stream, expected))
    return response
  }
  const success = new streams.BatchAppendResp.Success()
  success.setCurrentRevision(String(answer.revision))
  if (answer.position === null) success.setNoPosition(new emptyPb.Empty())
  else {
    const position = new shared.AllStreamPosition()
    position.setCommitPosition(String(answer.position))
    position.setPreparePosition(String(answer.position))
    success.setPosition(position)
  }
  response.setSuccess(success)
  return response
}
