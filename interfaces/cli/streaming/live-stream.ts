import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { ApiClient, CreatedLive } from './api-client.ts'

export interface ReceivedFrame {
  readonly type: 'transcription' | 'translation'
  readonly start: number
  readonly end: number
  readonly text: string
  readonly language: string
  readonly segment: number
  readonly final: boolean
  /** Seconds from the first sample of the audio. */
  readonly receivedAt: number
}

const CHUNK_SAMPLES = SAMPLE_RATE / 10

/** A fast sender waits while its socket holds more unsent bytes. */
const MAX_UNSENT_BYTES = 256 * 1024

const opened = async (url: string): Promise<WebSocket> => {
  const socket = new WebSocket(url)
  // The close event follows and is handled. Without a listener for errors the process would end before its clean-up.
  socket.on('error', () => undefined)
  await once(socket, 'open')
  return socket
}

type Message = Readonly<Record<string, unknown>>
const parsed = (data: unknown): Message => JSON.parse(String(data)) as Message

/** Waits until the socket has few unsent bytes. */
const drained = async (socket: WebSocket): Promise<void> => {
  while (socket.bufferedAmount > MAX_UNSENT_BYTES && socket.readyState === socket.OPEN) await delay(5)
}

/**
 * Sends audio at `speed` times real time. Each chunk is due at the end of its last sample. This time is counted from
 * `begin` (milliseconds of performance.now()), so a late chunk does not delay the following chunks.
 */
const sendAudio = async (socket: WebSocket, samples: Int16Array, speed: number, begin: number): Promise<void> => {
  for (let from = 0; from < samples.length && socket.readyState === socket.OPEN; from += CHUNK_SAMPLES) {
    const chunk = samples.subarray(from, from + CHUNK_SAMPLES)
    const due = begin + ((from + chunk.length) / SAMPLE_RATE / speed) * 1000
    const wait = due - performance.now()
    if (wait > 0) await delay(wait)
    socket.send(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    await drained(socket)
  }
}

export interface StreamOptions {
  /** 1: real time. Infinity: as fast as possible. */
  readonly speed: number
  readonly onFrame?: (frame: ReceivedFrame) => void
}

/**
 * Streams samples over the WebSocket as a sender and collects the frames as a listener, until the session has ended.
 * Throws an Error when the session does not end normally.
 */
export const streamLive = async (
  client: ApiClient,
  live: CreatedLive,
  samples: Int16Array,
  { speed, onFrame }: StreamOptions,
): Promise<ReadonlyArray<ReceivedFrame>> => {
  const listener = await opened(client.socketUrl(live, live.listener_token))
  const sender = await opened(client.socketUrl(live, live.sender_token))
  const frames: Array<ReceivedFrame> = []
  const problems: Array<string> = []
  let begin = performance.now()

  listener.on('message', (data) => {
    const message = parsed(data)
    if (message['type'] !== 'transcription' && message['type'] !== 'translation') return
    const frame = { ...(message as unknown as ReceivedFrame), receivedAt: (performance.now() - begin) / 1000 }
    frames.push(frame)
    onFrame?.(frame)
  })
  const ended = new Promise<number>((resolve) => listener.once('close', resolve))
  const started = new Promise<void>((resolve) => {
    sender.on('message', (data) => {
      const message = parsed(data)
      if (message['type'] === 'error') problems.push(`${String(message['code'])}: ${String(message['detail'])}`)
      if (message['status'] === 'started') resolve()
    })
    sender.once('close', () => resolve())
  })

  sender.send(JSON.stringify({ type: 'config' }))
  await started
  begin = performance.now()
  await sendAudio(sender, samples, speed, begin)
  if (sender.readyState === sender.OPEN) sender.send(JSON.stringify({ type: 'FINISH' }))
  const code = await ended
  if (code !== 1000) throw new Error(`the session ended with close code ${code}: ${problems.join('; ')}`)
  return frames
}
