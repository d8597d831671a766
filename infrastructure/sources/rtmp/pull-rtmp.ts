import { createBeginDetector, parseAudioMessage } from './audio-messages.ts'
import { hostOf, portOf } from '../network/address-guard.ts'
import { FLV_HEADER, flvAudioTag } from '../flv.ts'
import { openSocket } from '../network/guarded-socket.ts'
import type { RtmpMessage } from './rtmp-messages.ts'
import { openRtmp, type RtmpSession, type RtmpTarget } from './rtmp-session.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'
import type { PullKind, SourceSink } from '../source-kind.ts'

const AUDIO = 8
/** A message with several FLV tags. */
const AGGREGATE = 22
const TAG_HEADER_BYTES = 11
const TAG_TRAILER_BYTES = 4

/** Splits `rtmp://host/app[/instance]/stream` as FFmpeg does. A query belongs to the stream. */
const targetOf = (url: URL): RtmpTarget => {
  const [first = '', second, ...rest] = url.pathname.slice(1).split('/')
  const hasInstance = second !== undefined && rest.length > 0
  const app = hasInstance ? `${first}/${second}` : first
  const stream = hasInstance ? rest.join('/') : (second ?? '')
  return { url: `${url.protocol}//${url.host}/${app}`, app, stream: stream + url.search }
}

interface TimedPayload {
  /** Milliseconds. */
  readonly time: number
  readonly payload: Buffer
}

const audioOf = ({ type, timestamp, payload }: RtmpMessage): ReadonlyArray<TimedPayload> => {
  if (type === AUDIO) return [{ time: timestamp, payload }]
  if (type !== AGGREGATE) return []
  const tags: Array<TimedPayload> = []
  // The times of the tags are relative to the first tag.
  let first: number | null = null
  for (let at = 0; at + TAG_HEADER_BYTES <= payload.length; ) {
    const size = payload.readUIntBE(at + 1, 3)
    const data = payload.subarray(at + TAG_HEADER_BYTES, at + TAG_HEADER_BYTES + size)
    const time = payload.readUIntBE(at + 4, 3) + payload.readUInt8(at + 7) * 2 ** 24
    first ??= time
    const tagTime = (timestamp + time - first + 2 ** 32) % 2 ** 32
    if (payload[at] === AUDIO && data.length === size) tags.push({ time: tagTime, payload: data })
    at += TAG_HEADER_BYTES + size + TAG_TRAILER_BYTES
  }
  return tags
}

/** Receives the audio of a stream that is played. It never resolves; every end is an error. */
const receive = async (session: RtmpSession, sink: SourceSink, signal: AbortSignal): Promise<void> => {
  const begins = createBeginDetector()
  let hasAudio = false

  const next = async (): Promise<RtmpMessage> => {
    try {
      return await session.next()
    } catch (error) {
      // An encoder that plays its stream itself closes the connection at its end and announces nothing.
      throw hasAudio && sourceErrorOf(error).code === 'closed' ? new SourceError('closed_after_audio') : error
    }
  }

  while (!signal.aborted) {
    for (const { time, payload } of audioOf(await next())) {
      const message = parseAudioMessage(payload)
      if (message === null) continue
      const isFirst = begins(message)
      if (isFirst && hasAudio) await sink.stretchEnds()
      const tag = flvAudioTag(time, message.body)
      await sink.bytes(isFirst ? Buffer.concat([FLV_HEADER, tag]) : tag)
      hasAudio = true
    }
  }
}

/** Plays the audio of an RTMP or RTMPS stream until the server ends it or the connection breaks. */
export const pullRtmp: PullKind = async ({ url, note }, sink, guard, signal) => {
  const host = hostOf(url)
  if (host === null) throw new SourceError('unresolved')
  const socket = await openSocket(guard, { host, port: portOf(url), secure: url.protocol === 'rtmps:' }, signal)
  const disconnect = (): void => void socket.destroy()
  signal.addEventListener('abort', disconnect, { once: true })
  try {
    note('connect', `${socket.remoteAddress} port ${socket.remotePort}`)
    const session = await openRtmp(socket)
    note('request', 'the RTMP handshake succeeded')
    await session.play(targetOf(url))
    note('request', 'the server accepted the application; playing the stream')
    await receive(session, sink, signal)
  } finally {
    signal.removeEventListener('abort', disconnect)
    disconnect()
  }
}
