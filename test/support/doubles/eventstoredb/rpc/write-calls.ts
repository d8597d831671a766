import type { sendUnaryData, ServerReadableStream, ServerUnaryCall } from '@grpc/grpc-js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams, {
  type AppendReq, type AppendResp, type DeleteReq, type DeleteResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import { append, MAX_APPEND_BYTES, removeStream, type AppendAnswer, type Expected } from '../log/append-rules.ts'
import type { Faults } from '../faults.ts'
import type { ProposedEvent } from '../log/log-file.ts'
import { requiresLeader, type ServingNode } from '../node.ts'
import { nameOf, proposedEvent, thrownFailure, tooLargeFailure, wrongVersionFailure } from './messages.ts'

export interface CallParts {
  readonly node: ServingNode
  readonly faults: Faults
  /** Breaks all connections. */
  readonly dropAll: () => void
}

const expectedOf = (options: AppendReq.Options | DeleteReq.Options | undefined): Expected => {
  if (options?.hasRevision() === true) return BigInt(options.getRevision())
  if (options?.hasNoStream() === true) return 'no_stream'
  return options?.hasStreamExists() === true ? 'stream_exists' : 'any'
}

const appendResponse = (
  answer: Extract<AppendAnswer, { kind: 'done' | 'wrong-version' }>,
  expected: Expected,
): AppendResp => {
  const response = new streams.AppendResp()
  if (answer.kind === 'done') {
    const success = new streams.AppendResp.Success()
    success.setCurrentRevision(String(answer.revision))
    if (answer.position === null) success.setNoPosition(new shared.Empty())
    else {
      const position = new streams.AppendResp.Position()
      position.setCommitPosition(String(answer.position))
      position.setPreparePosition(String(answer.position))
      success.setPosition(position)
    }
    response.setSuccess(success)
    return response
  }
  const wrong = new streams.AppendResp.WrongExpectedVersion()
  if (answer.actual < 0n) wrong.setCurrentNoStream(new shared.Empty())
  else wrong.setCurrentRevision(String(answer.actual))
  if (expected === 'any') wrong.setExpectedAny(new shared.Empty())
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty())
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty())
  else wrong.setExpectedRevision(String(expected))
  response.setWrongExpectedVersion(wrong)
  return response
}

/** The call `Append`. The client uses it because the double does not support batches. */
const unaryAppend =
  ({ node: { log, admit }, faults, dropAll }: CallParts) =>
  (call: ServerReadableStream<AppendReq, AppendResp>, callback: sendUnaryData<AppendResp>): void => {
    let stream = ''
    let expected: Expected = 'any'
    const events: ProposedEvent[] = []
    call.on('data', (request: AppendReq) => {
      const options = request.getOptions()
      const message = request.getProposedMessage()
      if (options !== undefined) [stream, expected] = [nameOf(options.getStreamIdentifier()), expectedOf(options)]
      if (message !== undefined) events.push(proposedEvent(message))
    })
    const serve = async (): Promise<void> => {
      const fault = faults.take('append')
      if (fault === 'hang') return
      if (fault === 'wrong') return callback(null, new streams.AppendResp())
      const refused = await admit({ isWrite: true, requiresLeader: requiresLeader(call) })
      if (refused !== null) return callback(refused)
      const answer = append(log, stream, expected, events)
      if (fault === 'unanswered') return
      if (fault === 'drop') return dropAll()
      if (answer.kind === 'too-large') return callback(tooLargeFailure(MAX_APPEND_BYTES))
      if (answer.kind === 'bad-request') return callback(thrownFailure())
      callback(null, appendResponse(answer, expected))
    }
    call.on('end', () => void serve())
  }

const EXPECTED_NUMBERS = { any: -2n, no_stream: -1n, stream_exists: -4n }

/** The call `Delete`. */
const removal =
  ({ node: { log, admit } }: CallParts) =>
  async (call: ServerUnaryCall<DeleteReq, DeleteResp>, callback: sendUnaryData<DeleteResp>): Promise<void> => {
    const refused = await admit({ isWrite: true, requiresLeader: requiresLeader(call) })
    if (refused !== null) return callback(refused)
    const options = call.request.getOptions()
    const stream = nameOf(options?.getStreamIdentifier())
    const expected = expectedOf(options)
    const removed = removeStream(log, stream, expected)
    if (removed.kind === 'wrong-version') {
      const number = typeof expected === 'bigint' ? expected : EXPECTED_NUMBERS[expected]
      return callback(wrongVersionFailure(stream, number, removed.actual))
    }
    const position = new streams.DeleteResp.Position()
    position.setCommitPosition(String(removed.position))
    position.setPreparePosition(String(removed.position))
    const response = new streams.DeleteResp()
    response.setPosition(position)
    callback(null, response)
  }

export const writeCalls = (parts: CallParts) => ({ append: unaryAppend(parts), delete: removal(parts) })
