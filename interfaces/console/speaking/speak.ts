import { batch } from '@preact/signals'
import { ended, withFrame } from '../../client/captions.ts'
import { openLiveSocket } from '../../client/live-socket.ts'
import type { LiveFrame, LiveSocket, SocketState } from '../../client/live-socket.ts'
import type { CreateLiveRequest, LiveSession } from '../../client/operations.ts'
import { CHUNK, levelOf, RATE } from '../audio/pcm.ts'
import type { AudioFeed } from '../audio/source.ts'
import { call, callOpenly } from '../state/api.ts'
import { socketAddress } from '../state/login.ts'
import { captions, end, failure, level, live, onAir, phase, quiet, reset, runsWith, sent } from './run.ts'

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

/** Audio on its way to the service: it waits, ten seconds at most, until somebody listens. */
const createQueue = () => {
  let held: ReadonlyArray<Int16Array<ArrayBuffer>> = []
  let send: (samples: Int16Array<ArrayBuffer>) => boolean = () => false
  return {
    add: (samples: Int16Array<ArrayBuffer>): void => {
      if (!send(samples)) held = [...held, samples].slice(-MOST_HELD)
    },
    /** Sends what waits, and from now on what comes. */
    flow: (to: (samples: Int16Array<ArrayBuffer>) => boolean): void => {
      send = to
      for (const samples of held) to(samples)
      held = []
    },
    hold: (): void => {
      send = () => false
    },
  }
}
type Queue = ReturnType<typeof createQueue>

interface Sender {
  readonly socket: LiveSocket
  readonly finish: () => void
  readonly mayGoOn: () => boolean
}

/** The sender's socket: it takes from the queue while the service listens. */
const openSender = (session: LiveSession, queue: Queue, over: () => void): Sender => {
  let isListening = false
  let isFinishing = false
  const finish = (): void => {
    isFinishing = true
    if (isListening) socket.send('{"type":"FINISH"}')
  }
  const started = (): void => {
    isListening = true
    queue.flow((samples) => socket.send(new Uint8Array(samples.buffer)))
    phase.value = isFinishing ? 'finishing' : 'listening'
    if (isFinishing) finish()
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
    onState: (state: SocketState) => {
      if (state.name === 'open') socket.send('{"type":"config"}')
      if (state.name === 'waiting') {
        isListening = false
        queue.hold()
        phase.value = 'reconnecting'
      }
      if (state.name !== 'over') return
      // What the sender is told says more than what listeners are.
      end.value = state.end
      over()
    },
  })
  return { socket, finish, mayGoOn: () => isListening && socket.unsent() < MOST_UNSENT }
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
  runsWith({
    stop: () => {
      phase.value = 'finishing'
      call('finishLive', { path: { id: session.id } }).catch(fail)
    },
    close: () => listener.close(),
    mute: () => undefined,
  })
}

/** Opens the source, creates a session and sends the source's audio until `stop`. */
export const speak = async (request: CreateLiveRequest, openFeed: (mayGoOn: () => boolean) =>
  Promise<AudioFeed>): Promise<void> => {
  reset()
  phase.value = 'asking'
  const queue = createQueue()
  let sender: Sender | null = null
  let feed: AudioFeed | null = null
  let isStopped = false
  const stop = (): void => {
    isStopped = true
    feed?.stop()
    onAir.value = null
    phase.value = 'finishing'
    sender?.finish()
  }
  const close = (): void => {
    feed?.stop()
    onAir.value = null
  }
  const mute = (isMuted: boolean): void => feed?.mute(isMuted)
  runsWith({ stop, close, mute })
  try {
    feed = await openFeed(() => sender?.mayGoOn() ?? false)
    phase.value = 'creating'
    feed.begin(
      (samples) => {
        queue.add(samples)
        measure(samples)
        onAir.value = { seconds: sent.value, stop }
      },
      (why) => {
        if (why === 'lost') failure.value = new DOMException('', 'NotReadableError')
        stop()
      },
    )
    const { data } = await call('createLive', { body: request })
    live.value = data
    if (!isStopped) phase.value = 'connecting'
  } catch (error) {
    close()
    return fail(error)
  }
  let isOver = false
  const over = (): void => {
    if (isOver) return
    isOver = true
    close()
    phase.value = end.value?.reason === 'finished' ? 'done' : 'failed'
  }
  const listener = listen(live.value, () => undefined)
  sender = openSender(live.value, queue, over)
  const { socket, finish } = sender
  if (isStopped) finish()
  runsWith({
    stop,
    close: () => {
      close()
      socket.close()
      listener.close()
    },
    mute,
  })
}
