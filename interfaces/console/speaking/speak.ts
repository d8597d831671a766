import { batch } from '@preact/signals'
import { ended, withFrame } from '../../client/captions.ts'
import { type LiveFrame, type LiveSocket, openLiveSocket, type SocketState } from '../../client/live-socket.ts'
import type { CreateLiveRequest, LiveSession } from '../../client/operations.ts'
import { CHUNK_SAMPLES, levelOf, SAMPLE_RATE } from '../audio/pcm.ts'
import type { AudioFeed } from '../audio/source.ts'
import { call, callAnonymously } from '../state/api.ts'
import { socketAddress } from '../state/login.ts'
import {
  captions, end, failure, level, live, onAir, phase, quietSeconds, reset, setControls, sentSeconds,
} from './run.ts'

/** Audio frames of 100 ms that wait for a connection: ten seconds. */
const MAX_HELD_FRAMES = 100
/** A file that is sent at full speed pauses while its socket holds more unsent bytes. */
const MAX_UNSENT_BYTES = 256 * 1024
const QUIET_DB = -50

const isReady = async (): Promise<boolean> => {
  try {
    return (await callAnonymously('getEmbedReadiness')).ready
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

const addToCaptions = (frame: LiveFrame): void => {
  if (frame.type === 'transcription' || frame.type === 'translation') captions.value = withFrame(captions.value, frame)
}

/** Receives the captions. After a broken connection, the service sends the final segments after the cursor. */
const listen = (session: LiveSession, onOver: () => void): LiveSocket =>
  openLiveSocket({
    url: socketAddress(session.relative_path),
    token: session.listener_token,
    cursor: () => captions.value.cursor,
    isReady,
    onFrame: addToCaptions,
    onState: (state) => {
      if (state.name !== 'over') return
      captions.value = ended(captions.value)
      end.value ??= state.end
      onOver()
    },
  })

/** Creates a queue for audio frames. It holds at most ten seconds until the service is ready to receive. */
const createQueue = () => {
  let held: ReadonlyArray<Int16Array<ArrayBuffer>> = []
  let send: (samples: Int16Array<ArrayBuffer>) => boolean = () => false
  return {
    add: (samples: Int16Array<ArrayBuffer>): void => {
      if (!send(samples)) held = [...held, samples].slice(-MAX_HELD_FRAMES)
    },
    /** Sends the held frames, then sends each new frame at once. */
    release: (newSend: (samples: Int16Array<ArrayBuffer>) => boolean): void => {
      send = newSend
      for (const samples of held) newSend(samples)
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
  readonly canSend: () => boolean
}

/** Opens the sender's socket. It sends the queue's audio whenever the service is ready to receive. */
const openSender = (session: LiveSession, queue: Queue, onOver: () => void): Sender => {
  let isListening = false
  let isFinishing = false
  const finish = (): void => {
    isFinishing = true
    if (isListening) socket.send('{"type":"FINISH"}')
  }
  const onStarted = (): void => {
    isListening = true
    queue.release((samples) => socket.send(new Uint8Array(samples.buffer)))
    phase.value = isFinishing ? 'finishing' : 'listening'
    if (isFinishing) finish()
  }
  const socket = openLiveSocket({
    url: socketAddress(session.relative_path),
    token: session.sender_token,
    isReady,
    onFrame: (frame) => {
      if (frame.type !== undefined || frame.status === 'finished') return
      if (frame.status === 'started') onStarted()
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
      // The sender's close reason is more precise than the listener's, so it overwrites the listener's.
      end.value = state.end
      onOver()
    },
  })
  return { socket, finish, canSend: () => isListening && socket.unsent() < MAX_UNSENT_BYTES }
}

const measure = (samples: Int16Array): void => {
  const loudness = levelOf(samples)
  batch(() => {
    sentSeconds.value += samples.length / SAMPLE_RATE
    level.value = loudness
    quietSeconds.value = loudness < QUIET_DB ? quietSeconds.value + CHUNK_SAMPLES / SAMPLE_RATE : 0
  })
}

/** Creates a session without sending or listening. Resolves to null when the request fails. */
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

/** Starts a session with audio from a URL. This tab only listens. */
export const follow = async (request: CreateLiveRequest): Promise<void> => {
  const session = await create(request)
  if (session === null) return
  live.value = session
  phase.value = 'listening'
  const listener = listen(session, () => {
    phase.value = end.value?.reason === 'finished' ? 'done' : 'failed'
  })
  setControls({
    stop: () => {
      phase.value = 'finishing'
      call('finishLive', { path: { id: session.id } }).catch(fail)
    },
    close: () => listener.close(),
    mute: () => undefined,
  })
}

type OpenFeed = (canSend: () => boolean) => Promise<AudioFeed>

/** Opens the source, creates a session and sends the audio of the source until `stop`. */
export const speak = async (request: CreateLiveRequest, openFeed: OpenFeed): Promise<void> => {
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
  setControls({ stop, close, mute })
  try {
    feed = await openFeed(() => sender?.canSend() ?? false)
    phase.value = 'creating'
    feed.begin(
      (samples) => {
        queue.add(samples)
        measure(samples)
        onAir.value = { seconds: sentSeconds.value, stop }
      },
      (reason) => {
        if (reason === 'lost') failure.value = new DOMException('', 'NotReadableError')
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
  const onOver = (): void => {
    if (isOver) return
    isOver = true
    close()
    phase.value = end.value?.reason === 'finished' ? 'done' : 'failed'
  }
  const listener = listen(live.value, () => undefined)
  sender = openSender(live.value, queue, onOver)
  const { socket, finish } = sender
  if (isStopped) finish()
  setControls({
    stop,
    close: () => {
      close()
      socket.close()
      listener.close()
    },
    mute,
  })
}
