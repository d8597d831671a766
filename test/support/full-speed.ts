import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Client, Json } from './client.ts'

/** Samples of a frame: a tenth of a second. */
const CHUNK = 1600

export interface FinalFrame {
  readonly segment: number
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Sends pieces of audio to a new live as fast as it takes them; its finals, in order. */
export const transcribeAtFullSpeed = async (client: Client, config: Json, pieces: Iterable<Int16Array>): Promise<ReadonlyArray<FinalFrame>> => {
  const live = await client.createLive({ config })
  const socket = new WebSocket(`${client.url.replace(/^http/, 'ws')}${live.relative_path}?token=${live.sender_token}`)
  const finals: Array<FinalFrame> = []
  let last = ''
  socket.on('message', (data) => {
    last = (data as Buffer).toString()
    const frame = JSON.parse(last) as FinalFrame & { readonly final?: boolean }
    if (frame.final === true) finals.push(frame)
  })
  const closed = once(socket, 'close')
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'config' }))
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += CHUNK) {
      const chunk = piece.subarray(at, at + CHUNK)
      // What is not yet out stays out of memory.
      await new Promise<void>((resolve, reject) => {
        socket.send(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), (error) => (error instanceof Error ? reject(error) : resolve()))
      })
    }
  socket.send(JSON.stringify({ type: 'FINISH' }))
  const [code] = (await closed) as [number]
  if (code !== 1000) throw new Error(`closed with ${code}: ${last}`)
  return finals
}
