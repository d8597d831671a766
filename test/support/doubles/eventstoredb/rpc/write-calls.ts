import type { sendUnaryData, ServerDuplexStream, ServerReadableStream, ServerUnaryCall } from '@grpc/grpc-js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams, {
  type AppendReq, type AppendResp, type DeleteReq, type DeleteResp, type TombstoneReq, type TombstoneResp,
  type BatchAppendReq, type BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import { append, MAX_APPEND_BYTES, removeStream, type AppendAnswer, type Expected } from '../log/append-rules.ts'
import { batchResponse, expectedOfBatch } from './batch-messages.ts'
import type { Faults } from '../faults.ts'
import type { ProposedEvent } from '../log/log-file.ts'
import { requiresLeader, type ServingNode } from '../node.ts'
import {
  nameOf,
  proposedEvent,
  thrownFailure,
  tombstonedFailure,
  tooLargeFailure,
  wrongVersionFailure,
} from './messages.ts'

export interface CallParts {
  readonly node: ServingNode
  readonly faults: Faults
  /** Breaks all connections. */
  readonly dropAll: () => void
}

/** The real server answers a malformed request twice, the second time after this delay, which confuses the client. */
const SECOND_ANSWER_MS = 2000

const expectedOf = (options: AppendReq.Options | DeleteReq.Options | TombstoneReq.Options | undefined): Expected => {
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

/** The call `Append`, which the client uses with credentials. */
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
      if (answer.kind === 'tombstoned') return callback(tombstonedFailure(stream))
      if (answer.kind === 'too-large') return callback(tooLargeFailure(MAX_APPEND_BYTES))
      if (answer.kind === 'bad-request') return callback(thrownFailure())
      callback(null, appendResponse(answer, expected))
    }
    call.on('end', () => void serve())
  }

/** The call `BatchAppend`, which the client uses without credentials. Only the recordings use it, not the service. */
const batchAppend =
  ({ node: { log, admit } }: CallParts) =>
  (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void => {
    const begun = new Map<
      string,
      { readonly stream: string; readonly expected: Expected; readonly events: ProposedEvent[] }
    >()
    const serve = async (request: BatchAppendReq): Promise<void> => {
      const correlationId = request.getCorrelationId()?.getString() ?? ''
      const options = request.getOptions()
      const batch = begun.get(correlationId) ?? {
        stream: nameOf(options?.getStreamIdentifier()),
        expected: expectedOfBatch(options),
        events: [],
      }
      begun.set(correlationId, batch)
      batch.events.push(...request.getProposedMessagesList().map(proposedEvent))
      if (!request.getIsFinal()) return
      begun.delete(correlationId)
      const refused = await admit({ isWrite: true, requiresLeader: requiresLeader(call) })
      if (refused !== null) return void call.emit('error', refused)
      const answer = append(log, batch.stream, batch.expected, batch.events)
      const respond = (): void => void call.write(batchResponse(correlationId, batch.stream, answer, batch.expected))
      respond()
      if (answer.kind === 'bad-request' && batch.stream !== '') setTimeout(respond, SECOND_ANSWER_MS)
    }
    call.on('data', (request: BatchAppendReq) => void serve(request))
    call.on('end', () => call.end())
    call.on('error', () => undefined)
  }

const positionIn = <
  A extends { setCommitPosition: (value: string) => unknown; setPreparePosition: (value: string) => unknown },
>(
  message: A,
  position: number,
): A => {
  message.setCommitPosition(String(position))
  message.setPreparePosition(String(position))
  return message
}

const EXPECTED_NUMBERS = { any: -2n, no_stream: -1n, stream_exists: -4n }

/** The calls `Delete` and `Tombstone`. `answer` creates the response. */
const removal =
  <Request extends DeleteReq | TombstoneReq, Response>(
    { node: { log, admit } }: CallParts,
    isPermanent: boolean,
    answer: (position: number) => Response,
  ) =>
  async (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): Promise<void> => {
    const refused = await admit({ isWrite: true, requiresLeader: requiresLeader(call) })
    if (refused !== null) return callback(refused)
    const options = call.request.getOptions()
    const stream = nameOf(options?.getStreamIdentifier())
    const expected = expectedOf(options)
    const removed = removeStream(log, stream, expected, isPermanent)
    if (removed.kind === 'tombstoned') return callback(tombstonedFailure(stream))
    if (removed.kind === 'wrong-version')
      return callback(
        wrongVersionFailure(
          stream,
          typeof expected === 'bigint' ? expected : EXPECTED_NUMBERS[expected],
          removed.actual,
        ),
      )
    callback(null, answer(removed.kind === 'done' ? (removed.position ?? 0) : 0))
  }

export const writeCalls = (parts: CallParts) => ({
  append: unaryAppend(parts),
  batchAppend: batchAppend(parts),
  delete: removal<DeleteReq, DeleteResp>(parts, false, (position) => {
    const response = new streams.DeleteResp()
    response.setPosition(positionIn(new streams.DeleteResp.Position(), position))
    return response
  }),
  tombstone: removal<TombstoneReq, TombstoneResp>(parts, true, (position) => {
    const response = new streams.TombstoneResp()
    response.setPosition(positionIn(new streams.TombstoneResp.Position(), position))
    return response
  }),
})
