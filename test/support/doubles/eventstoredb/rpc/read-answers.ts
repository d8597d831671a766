import type { ServerWritableStream } from '@grpc/grpc-js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Failure } from './messages.ts'

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>

/** Ends the call with an error, as a thrown one would. */
export const failCall = (call: ReadCall, failure: Failure): void => void call.emit('error', failure)

const ENDS_OF_A_WAIT = ['drain', 'cancelled', 'close']

/** Waits where the client is slower than we are. */
export const sendAnswer = async (call: ReadCall, response: ReadResp): Promise<void> => {
  if (call.write(response) || call.cancelled) return
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      for (const event of ENDS_OF_A_WAIT) call.off(event, goOn)
      resolve()
    }
    for (const event of ENDS_OF_A_WAIT) call.on(event, goOn)
  })
}
