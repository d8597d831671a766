import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Client, Json } from '../service/client.ts'

/** Samples of one frame: a tenth of a second. */
const CHUNK = 1600

export interface FinalFrame {
  readonly segment: number
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Sends audio to a new session as fast as the service accepts it. Returns the finals in order. */
export const transcribeAtFullSpeed = async (
  client: Client,
  config: Json,
  pieces: Iterable<Int16Array>,
): Promise<ReadonlyArray<FinalFrame>> => {
  const live = await client.createLive({ config })
  const socket = new WebSocket(`${client.url.replace(/^http/, 'ws')}${live.relative_path}?token=${live.sender_token}`)
  const finals: Array<FinalFrame> = []
  let last = ''
  socket.on('message', (data) => {
    last = (data as Buffer).toString()
    const frame = JSON.parse(last) as FinalFrame & { readonly final?: boolean }
    if (frame.final === true) finals.push(frame)
  })
  // An error is followed by the close.
  socket.on('error', () => undefined)
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  const ended = async (): Promise<Error> => new Error(`the socket closed with ${await closed}: ${last}`)
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'config' }))
  for (const piece of pieces)
    for (let start = 0; start < piece.length; start += CHUNK) {
      const chunk = piece.subarray(start, start + CHUNK)
      // Waits for each frame, so unsent audio does not fill the memory.
      const isSent = await new Promise<boolean>((resolve) => {
        const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        socket.send(bytes, (error) => resolve(!(error instanceof Error)))
      })
      if (!isSent) throw await ended()
    }
  socket.send(JSON.stringify({ type: 'FINISH' }))
  if ((await closed) !== 1000) throw await ended()
  return finals
}
