import type { TextFrame } from './captions.ts'

/** Any frame that the service sends. */
export type LiveFrame =
  | TextFrame
  | {
      readonly type: 'connection'
      readonly role: 'sender' | 'listener'
      readonly session_id: number
      readonly state: string
    }
  | { readonly type: 'error'; readonly code: string; readonly detail: string; readonly retry_after?: number }
  | { readonly type: 'pong' }
  | { readonly type?: undefined; readonly status: 'ASR process started' | 'started' | 'finished' }

/** Why a socket does not connect again. */
export interface SocketEnd {
  /** `finished`, the code of an error frame, `closed`, or `refused` (the token is wrong, or the session is deleted). */
  readonly reason: string
  /** Close code. 0 without a close. */
  readonly code: number
  readonly detail: string
}

export type SocketState =
  | { readonly name: 'connecting' }
  | { readonly name: 'open' }
  | { readonly name: 'waiting'; readonly ms: number; readonly isRestart: boolean }
  | { readonly name: 'over'; readonly end: SocketEnd }

interface LiveSocketOptions {
  /** Address of the WebSocket, such as `ws://localhost:8080/ws/live/7`, without a query. */
  readonly url: string
  readonly token: string
  /** Returns the number of the last final segment; null before the first. A reconnect requests the text after it. */
  readonly cursor?: () => number | null
  /** Number of earlier final segments to request on the first connection, at most 100. A cursor takes precedence. */
  readonly replay?: number
  /** Whether the service accepts connections. Browsers hide why a handshake failed, so this is checked separately. */
  readonly isReady: () => Promise<boolean>
  readonly onFrame: (frame: LiveFrame) => void
  readonly onState: (state: SocketState) => void
  /** Changes the wait before a reconnect, in milliseconds. Tests use it to wait less. */
  readonly wait?: (ms: number) => number
}

export interface LiveSocket {
  /** Returns false when there is no connection. */
  readonly send: (data: string | Uint8Array<ArrayBuffer>) => boolean
  /** Bytes that are not sent yet. */
  readonly unsent: () => number
  /** Closes the connection. It does not connect again, and sends no FINISH. */
  readonly close: () => void
}

const PING_EVERY_MS = 20_000
const [FIRST_WAIT_MS, MAX_WAIT_MS] = [1000, 30_000]
const [MIN_RESTART_WAIT_MS, RESTART_WAIT_SPREAD_MS] = [5000, 25_000]
/** After this many refused handshakes the socket ends. A refusal counts only if the service is ready. */
const MAX_REFUSALS = 3

/** Close codes after which a reconnect may succeed: a restart, a slow client or a broken connection. */
const RECONNECT_CODES: ReadonlySet<number> = new Set([1001, 1005, 1006, 1012, 1013])

/**
 * Opens a WebSocket of a session. After a broken connection it reconnects in 1 to 30 s, after a restart of the service
 * in 5 to 30 s, or earlier if the service says so. It pings every 20 s, and ends when the session ends.
 */
export const openLiveSocket = (options: LiveSocketOptions): LiveSocket => {
  const { url, token, cursor = () => null, replay = 0, isReady, onFrame, onState, wait = (ms) => ms } = options
  let socket: WebSocket | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  let failures = 0
  let refusals = 0
  let lastError: Extract<LiveFrame, { readonly type: 'error' }> | null = null
  let isFinished = false

  const finish = (end: SocketEnd): void => {
    isOver = true
    clearTimeout(timer)
    onState({ name: 'over', end })
  }

  const reconnectLater = (): void => {
    const isRestart = lastError?.code === 'server_restart'
    const maxMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** failures)
    const { retry_after: seconds } = lastError ?? {}
    const randomMs = MIN_RESTART_WAIT_MS + Math.random() * RESTART_WAIT_SPREAD_MS
    const restartMs = seconds === undefined ? randomMs : 1000 * seconds
    const ms = wait(isRestart ? restartMs : maxMs * (0.5 + Math.random() / 2))
    failures += 1
    lastError = null
    onState({ name: 'waiting', ms, isRestart })
    timer = setTimeout(connect, ms)
  }

  const onClosed = async (hadOpened: boolean, code: number): Promise<void> => {
    socket = null
    if (isOver) return
    if (isFinished) return finish({ reason: 'finished', code, detail: '' })
    if (hadOpened && !RECONNECT_CODES.has(code))
      return finish({ reason: lastError?.code ?? 'closed', code, detail: lastError?.detail ?? '' })
    if (!hadOpened) refusals = (await isReady()) ? refusals + 1 : 0
    if (refusals >= MAX_REFUSALS) return finish({ reason: 'refused', code: 0, detail: '' })
    if (!isOver) reconnectLater()
  }

  const handleFrame = (frame: LiveFrame): void => {
    if (frame.type === 'connection') refusals = 0
    if (frame.type === 'transcription') failures = 0
    if (frame.type === 'error') lastError = frame
    if (frame.type === undefined && frame.status === 'finished') isFinished = true
    if (frame.type !== 'pong') onFrame(frame)
  }

  const connect = (): void => {
    onState({ name: 'connecting' })
    const lastSegment = cursor()
    const resume = lastSegment === null ? { replay: String(replay) } : { after: String(lastSegment) }
    const query = new URLSearchParams({ token, ...(lastSegment === null && replay === 0 ? {} : resume) })
    const opening = new WebSocket(`${url}?${query.toString()}`)
    socket = opening
    let hasOpened = false
    let isClosed = false
    let isAlive = true
    const closed = (code: number): void => {
      clearInterval(pinging)
      if (isClosed) return
      isClosed = true
      void onClosed(hasOpened, code)
    }
    // A lost network causes no event, so a missing frame after a ping counts as a broken connection.
    const pinging = setInterval(() => {
      if (!hasOpened) return
      if (!isAlive) {
        opening.close()
        return closed(1006)
      }
      isAlive = false
      opening.send('{"type":"ping"}')
    }, PING_EVERY_MS)
    opening.addEventListener('open', () => {
      hasOpened = true
      if (!isOver) onState({ name: 'open' })
    })
    opening.addEventListener('message', ({ data }) => {
      if (isClosed || isOver) return
      isAlive = true
      handleFrame(JSON.parse(String(data)) as LiveFrame)
    })
    opening.addEventListener('close', ({ code }) => closed(code))
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
