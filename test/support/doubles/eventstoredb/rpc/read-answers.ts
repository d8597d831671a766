import type { ServerWritableStream } from '@grpc/grpc-js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Failure } from './messages.ts'

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>

/** Ends the call with an error. */
export const failCall = (call: ReadCall, failure: Failure): void => void call.emit('error', failure)

const WAKING_EVENTS = ['drain', 'cancelled', 'close']

/** Sends an answer and waits while the client is slower. */
export const sendAnswer = async (call: ReadCall, response: ReadResp): Promise<void> => {
  if (call.write(response) || call.cancelled) return
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      for (const event of WAKING_EVENTS) call.off(event, wake)
      resolve()
    }
    for (const event of WAKING_EVENTS) call.on(event, wake)
  })
}
