import type { TextFrame } from './captions.ts'

/** Any frame that the service sends. */
export type LiveFrame =
  | TextFrame
  | { readonly type: 'connection'; readonly role: 'sender' | 'listener'; readonly session_id: number; readonly state: string }
  | { readonly type: 'error'; readonly code: string; readonly detail: string }
  | { readonly type: 'pong' }
  | { readonly type?: undefined; readonly status: 'ASR process started' | 'started' | 'finished' }

/**
 * Why a socket opens no more: `finished`, the code of an error frame, or `refused` (the token is wrong, or the session
 * long over).
 */
export interface SocketEnd {
  readonly reason: string
  /** Of the close; 0 where there was none. */
  readonly code: number
  readonly detail: string
}

export type SocketState =
  | { readonly name: 'connecting' }
  | { readonly name: 'open' }
  | { readonly name: 'waiting'; readonly ms: number; readonly isRestart: boolean }
  | { readonly name: 'over'; readonly end: SocketEnd }

interface LiveSocketOptions {
  /** `ws://…/ws/live/7`, without a query. */
  readonly url: string
  readonly token: string
  /** The last segment that was heard to its end, null for none: a reconnect goes on behind it. */
  readonly cursor?: () => number | null
  /** So many of the last final segments, at most 100, for a listener who comes late: where there is no cursor yet. */
  readonly replay?: number
  /** Whether the service could take a socket: pages are not told why a handshake failed. */
  readonly isReady: () => Promise<boolean>
  readonly onFrame: (frame: LiveFrame) => void
  readonly onState: (state: SocketState) => void
  /** How many milliseconds to wait, made of those that the rules give; tests wait less. */
  readonly wait?: (ms: number) => number
}

export interface LiveSocket {
  /** False where nothing could be sent: there is no connection. */
  readonly send: (data: string | Uint8Array<ArrayBuffer>) => boolean
  /** Bytes that have not left yet. */
  readonly unsent: () => number
  /** For good, without a word to the service. */
  readonly close: () => void
}

/** Milliseconds. */
const PING_EVERY = 20_000
const [FIRST_WAIT, LONGEST_WAIT] = [1000, 30_000]
const [SHORTEST_RESTART, FURTHER_RESTART] = [5000, 25_000]
/** The service answers and takes no socket: after so many times it never will. */
const MOST_REFUSALS = 3

/** Closes after which the service may be asked again: it restarts, we were slow, or the connection broke. */
const COMES_BACK: ReadonlySet<number> = new Set([1001, 1005, 1006, 1012, 1013])

/**
 * A socket of a live that opens again when its connection breaks: after 1 to 30 s, after 5 to 30 s where the service
 * said that it restarts. It asks for a sign of life every 20 s, and it ends when the live does.
 */
export const openLiveSocket = (options: LiveSocketOptions): LiveSocket => {
  const { url, token, cursor = () => null, replay = 0, isReady, onFrame, onState, wait = (ms) => ms } = options
  let socket: WebSocket | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  let failures = 0
  let refusals = 0
  let lastError: { readonly code: string; readonly detail: string } | null = null
  let isFinished = false

  const finish = (end: SocketEnd): void => {
    isOver = true
    clearTimeout(timer)
    onState({ name: 'over', end })
  }

  const again = (): void => {
    const isRestart = lastError?.code === 'server_restart'
    const most = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** failures)
    const ms = wait(isRestart ? SHORTEST_RESTART + Math.random() * FURTHER_RESTART : most * (0.5 + Math.random() / 2))
    failures += 1
    lastError = null
    onState({ name: 'waiting', ms, isRestart })
    timer = setTimeout(connect, ms)
  }

  const gone = async (hadOpened: boolean, code: number): Promise<void> => {
    socket = null
    if (isOver) return
    if (isFinished) return finish({ reason: 'finished', code, detail: '' })
    if (hadOpened && !COMES_BACK.has(code))
      return finish({ reason: lastError?.code ?? 'closed', code, detail: lastError?.detail ?? '' })
    if (!hadOpened) refusals = (await isReady()) ? refusals + 1 : 0
    if (refusals >= MOST_REFUSALS) return finish({ reason: 'refused', code: 0, detail: '' })
    if (!isOver) again()
  }

  const hear = (frame: LiveFrame): void => {
    if (frame.type === 'connection') refusals = 0
    if (frame.type === 'transcription') failures = 0
    if (frame.type === 'error') lastError = frame
    if (frame.type === undefined && frame.status === 'finished') isFinished = true
    if (frame.type !== 'pong') onFrame(frame)
  }

  const connect = (): void => {
    onState({ name: 'connecting' })
    const at = cursor()
    const from = at === null ? { replay: String(replay) } : { after: String(at) }
    const query = new URLSearchParams({ token, ...(at === null && replay === 0 ? {} : from) })
    const opening = new WebSocket(`${url}?${query.toString()}`)
    socket = opening
    let hasOpened = false
    let isGone = false
    let isAlive = true
    const leave = (code: number): void => {
      clearInterval(pinging)
      if (isGone) return
      isGone = true
      void gone(hasOpened, code)
    }
    // A network that went away tells nobody: the answer to a ping stays out.
    const pinging = setInterval(() => {
      if (!hasOpened) return
      if (!isAlive) {
        opening.close()
        return leave(1006)
      }
      isAlive = false
      opening.send('{"type":"ping"}')
    }, PING_EVERY)
    opening.addEventListener('open', () => {
      hasOpened = true
      if (!isOver) onState({ name: 'open' })
    })
    opening.addEventListener('message', ({ data }) => {
      if (isGone || isOver) return
      isAlive = true
      hear(JSON.parse(String(data)) as LiveFrame)
    })
    opening.addEventListener('close', ({ code }) => leave(code))
  }

  connect()
  return {
    send: (data) => {
      if (socket?.readyState !== WebSocket.OPEN) return false
      socket.send(data)
      return true
    },
    unsent: () => socket?.bufferedAmount ?? 0,
    close: () => {
      isOver = true
      clearTimeout(timer)
      socket?.close()
    },
  }
}
