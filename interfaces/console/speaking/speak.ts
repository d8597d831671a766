import { batch } from '@preact/signals'
import { ended, withFrame } from '../../client/captions.ts'
import { openLiveSocket } from '../../client/live-socket.ts'
import type { LiveFrame, LiveSocket, SocketState } from '../../client/live-socket.ts'
import type { CreateLiveRequest, LiveSession } from '../../client/operations.ts'
import { CHUNK, levelOf, RATE } from '../audio/pcm.ts'
import type { AudioFeed } from '../audio/source.ts'
import { call, callOpenly } from '../state/api.ts'
import { socketAddress } from '../state/login.ts'
import { onAir } from '../state/on-air.ts'
import { captions, end, failure, isMuted, level, live, phase, quiet, reset, sent } from './run.ts'

/** Frames of 100 ms that wait for a connection: ten seconds. */
const MOST_HELD = 100
/** Bytes that may wait in the socket while a file is sent as fast as it goes. */
const MOST_UNSENT = 256 * 1024
const QUIET_DB = -50

const isReady = async (): Promise<boolean> => {
  try {
    return (await callOpenly('getEmbedReadiness')).ready
  } catch {
    return false
  }
}

/** Sockets of what runs in this tab. */
let open: { readonly stop: () => void; readonly close: () => void } | null = null

const fail = (error: unknown): void => {
  onAir.value = null
  batch(() => {
    failure.value = error
    phase.value = 'failed'
  })
}

const heard = (frame: LiveFrame): void => {
  if (frame.type === 'transcription' || frame.type === 'translation') captions.value = withFrame(captions.value, frame)
}

/** Hears what becomes of the audio; a broken connection misses nothing of it. */
const listen = (session: LiveSession, over: () => void): LiveSocket =>
  openLiveSocket({
    url: socketAddress(session.relative_path),
    token: session.listener_token,
    cursor: () => captions.value.cursor,
    isReady,
    onFrame: heard,
    onState: (state) => {
      if (state.name !== 'over') return
      captions.value = ended(captions.value)
      end.value ??= state.end
      over()
    },
  })

interface Sending {
  readonly socket: LiveSocket
  readonly add: (samples: Int16Array<ArrayBuffer>) => void
  readonly finish: () => void
  readonly mayGoOn: () => boolean
}

/** The sender's socket: audio waits in it until the service listens, ten seconds at most. */
const openSender = (session: LiveSession, over: () => void): Sending => {
  let isListening = false
  let isFinishing = false
  let held: ReadonlyArray<Int16Array<ArrayBuffer>> = []
  const send = (samples: Int16Array<ArrayBuffer>): boolean => socket.send(new Uint8Array(samples.buffer))
  const finish = (): void => {
    isFinishing = true
    if (isListening) socket.send('{"type":"FINISH"}')
  }
  const started = (): void => {
    isListening = true
    for (const samples of held) send(samples)
    held = []
    phase.value = isFinishing ? 'finishing' : 'listening'
    if (isFinishing) finish()
  }
  const onState = (state: SocketState): void => {
    if (state.name === 'open') socket.send('{"type":"config"}')
    if (state.name === 'waiting') {
      isListening = false
      phase.value = 'reconnecting'
    }
    if (state.name !== 'over') return
    // What the sender is told says more than what listeners are.
    end.value = state.end
    over()
  }
  const socket = openLiveSocket({
    url: socketAddress(session.relative_path),
    token: session.sender_token,
    isReady,
    onFrame: (frame) => {
      if (frame.type !== undefined || frame.status === 'finished') return
      if (frame.status === 'started') started()
      else if (phase.value === 'connecting') phase.value = 'loading'
    },
    onState,
  })
  return {
    socket,
    add: (samples) => {
      if (!isListening || !send(samples)) held = [...held, samples].slice(-MOST_HELD)
    },
    finish,
    mayGoOn: () => isListening && socket.unsent() < MOST_UNSENT,
  }
}

const measure = (samples: Int16Array): void => {
  const loudness = levelOf(samples)
  batch(() => {
    sent.value += samples.length / RATE
    level.value = loudness
    quiet.value = loudness < QUIET_DB ? quiet.value + CHUNK / RATE : 0
  })
}

/** Creates a session that this tab has nothing to do with; null where that failed. */
export const create = async (request: CreateLiveRequest): Promise<LiveSession | null> => {
  reset()
  phase.value = 'creating'
  try {
    const { data } = await call('createLive', { body: request })
    phase.value = 'idle'
    return data
  } catch (error) {
    fail(error)
    return null
  }
}

/** Starts a session whose audio comes from elsewhere: this tab only listens. */
export const follow = async (request: CreateLiveRequest): Promise<void> => {
  const session = await create(request)
  if (session === null) return
  live.value = session
  phase.value = 'listening'
  const listener = listen(session, () => {
    phase.value = end.value?.reason === 'finished' ? 'done' : 'failed'
  })
  open = {
    stop: () => {
      phase.value = 'finishing'
      call('finishLive', { path: { id: session.id } }).catch(fail)
    },
    close: () => listener.close(),
  }
}

/** Opens the source, creates a session and sends the source's audio until `stop`. */
export const speak = async (request: CreateLiveRequest, openFeed: (mayGoOn: () => boolean) => Promise<AudioFeed>): Promise<void> => {
  reset()
  phase.value = 'asking'
  let sending: Sending | null = null
  let feed: AudioFeed | null = null
  try {
    feed = await openFeed(() => sending?.mayGoOn() ?? false)
    phase.value = 'creating'
    const { data } = await call('createLive', { body: request })
    live.value = data
    phase.value = 'connecting'
  } catch (error) {
    feed?.stop()
    return fail(error)
  }
  const session = live.value
  const source = feed
  let isOver = false
  const over = (): void => {
    if (isOver) return
    isOver = true
    source.stop()
    onAir.value = null
    phase.value = end.value?.reason === 'finished' ? 'done' : 'failed'
  }
  const listener = listen(session, () => undefined)
  const sender = openSender(session, over)
  sending = sender
  const stop = (): void => {
    source.stop()
    onAir.value = null
    phase.value = 'finishing'
    sender.finish()
  }
  open = {
    stop,
    close: () => {
      source.stop()
      sender.socket.close()
      listener.close()
    },
  }
  source.begin(
    (samples) => {
      sender.add(samples)
      measure(samples)
      onAir.value = { seconds: sent.value, stop }
    },
    (why) => {
      if (why === 'lost') failure.value = new DOMException('', 'NotReadableError')
      stop()
    },
  )
}

/** No more audio: what is left is heard, then the session is finished. */
export const stop = (): void => open?.stop()

/** Leaves the last session behind. */
export const leave = (): void => {
  open?.close()
  open = null
  onAir.value = null
  reset()
}

let muted: AudioFeed['mute'] | null = null
/** The source that listens to `mute`. */
export const mutes = (feed: AudioFeed): AudioFeed => {
  muted = feed.mute
  return feed
}

export const mute = (): void => {
  isMuted.value = !isMuted.value
  muted?.(isMuted.value)
}
