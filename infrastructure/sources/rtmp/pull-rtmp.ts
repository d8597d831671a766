import { hostOf, portOf } from '../network/address-guard.ts'
import { FLV_HEADER, flvAudioTag } from '../flv.ts'
import { openSocket } from '../network/guarded-socket.ts'
import type { RtmpMessage } from './rtmp-messages.ts'
import { openRtmp } from './rtmp-session.ts'
import type { RtmpTarget } from './rtmp-session.ts'
import { SourceError } from '../source-error.ts'
import type { PullKind } from '../source-kind.ts'

const AUDIO = 8
/** Tags of FLV, one after another, in one message. */
const AGGREGATE = 22
const TAG_HEADER = 11
const TAG_TRAILER = 4

/** `rtmp://host/app[/instance]/stream`, as FFmpeg reads it; a query belongs to the stream. */
const targetOf = (url: URL): RtmpTarget => {
  const [first = '', second, ...rest] = url.pathname.slice(1).split('/')
  const inner = second !== undefined && rest.length > 0
  const app = inner ? `${first}/${second}` : first
  const stream = inner ? rest.join('/') : (second ?? '')
  return { url: `${url.protocol}//${url.host}/${app}`, app, stream: stream + url.search }
}

const audioOf = ({ type, timestamp, payload }: RtmpMessage): ReadonlyArray<Buffer> => {
  if (type === AUDIO) return payload.length === 0 ? [] : [flvAudioTag(timestamp, payload)]
  if (type !== AGGREGATE) return []
  const tags: Array<Buffer> = []
  // The tags count from wherever the first of them is.
  let first: number | null = null
  for (let at = 0; at + TAG_HEADER <= payload.length; ) {
    const size = payload.readUIntBE(at + 1, 3)
    const data = payload.subarray(at + TAG_HEADER, at + TAG_HEADER + size)
    const time = payload.readUIntBE(at + 4, 3) + payload.readUInt8(at + 7) * 2 ** 24
    first ??= time
    const played = (timestamp + time - first + 2 ** 32) % 2 ** 32
    if (payload[at] === AUDIO && data.length === size && size > 0) tags.push(flvAudioTag(played, data))
    at += TAG_HEADER + size + TAG_TRAILER
  }
  return tags
}

/** Plays an RTMP or RTMPS stream; only its sound goes on. It never ends by itself: its server goes away, or says that it is over. */
export const pullRtmp: PullKind = async ({ url, note }, sink, guard, signal) => {
  const host = hostOf(url)
  if (host === null) throw new SourceError('unresolved')
  const socket = await openSocket(guard, { host, port: portOf(url), secure: url.protocol === 'rtmps:' }, signal)
  const cut = (): void => void socket.destroy()
  signal.addEventListener('abort', cut, { once: true })
  try {
    note('connect', `${socket.remoteAddress} port ${socket.remotePort}`)
    const session = await openRtmp(socket)
    note('ask', 'the RTMP handshake is done')
    await session.play(targetOf(url))
    note('ask', 'the server took the application and was asked to play the stream')
    let begun = false
    while (!signal.aborted) {
      for (const tag of audioOf(await session.next())) {
        await sink.bytes(begun ? tag : Buffer.concat([FLV_HEADER, tag]))
        begun = true
      }
    }
  } finally {
    signal.removeEventListener('abort', cut)
    cut()
  }
}
