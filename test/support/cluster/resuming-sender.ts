import { setTimeout as delay } from 'node:timers/promises'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { openSocket, type LiveJson, type TestSocket } from '../service/client.ts'
import { wordAfter } from './numbered-words.ts'

/** Samples of one frame: 100 ms. */
const FRAME = SAMPLE_RATE / 10
/** Time from a break until the sender reconnects. */
const PAUSE_MS = 1000

/** A real-time sender. After each break it reconnects and continues with the next complete word. */
export interface ResumingSender {
  /** Resolves to the close code when the session has ended. Rejects when the first connection fails. */
  readonly ended: Promise<number>
  /** The number of the word with which it continued after each break. Words shortly before may be lost. */
  readonly breaks: ReadonlyArray<number>
  /** Sends FINISH after the present word. Returns the number of sent words. */
  readonly finish: () => Promise<number>
  /** Closes its socket without reconnecting. */
  readonly stop: () => void
}

/** Sends numbered audio to the first of `urls`, and after each break to the next URL. */
export const sendAndResume = async (
  urls: ReadonlyArray<() => string>,
  live: LiveJson,
  audio: Int16Array,
): Promise<ResumingSender> => {
  const breaks: Array<number> = []
  let [position, until] = [0, audio.length]
  let current: TestSocket | undefined
  const stopping = new AbortController()
  const open = async (url: string): Promise<TestSocket> => {
    const socket = await openSocket(`${url.replace(/^http/, 'ws')}${live.relative_path}?token=${live.sender_token}`)
    current = socket
    socket.send({ type: 'config' })
    await socket.frame(({ status }) => status === 'started')
    return socket
  }
  /** Sends until the socket closes. Returns the close code. */
  const send = async (socket: TestSocket): Promise<number> => {
    let due = position
    let last = performance.now()
    const ticking = setInterval(() => {
      const now = performance.now()
      due += ((now - last) / 1000) * SAMPLE_RATE
      last = now
      for (; position < until && position + FRAME <= due; position += FRAME)
        socket.sendAudio(audio.subarray(position, Math.min(position + FRAME, until)))
      if (position < until) return
      clearInterval(ticking)
      socket.send({ type: 'FINISH' })
    }, 100)
    const { code } = await socket.ended
    clearInterval(ticking)
    return code
  }
  const run = async (first: TestSocket): Promise<number> => {
    let code = await send(first)
    for (let attempt = 1; !stopping.signal.aborted && (code === 1006 || code === 1012 || code === 1001); attempt += 1) {
      await delay(PAUSE_MS)
      const socket = await open(urls[attempt % urls.length]?.() ?? '').catch(() => null)
      if (socket === null) continue
      if (position < until) {
        const { number, from } = wordAfter(position)
        breaks.push(number)
        position = Math.min(from, until)
      }
      code = await send(socket)
    }
    return code
  }
  return {
    ended: run(await open(urls[0]?.() ?? '')),
    breaks,
    finish: async () => {
      const { number, from } = wordAfter(position)
      until = Math.min(from, audio.length)
      return number - 1
    },
    stop: () => {
      stopping.abort()
      current?.terminate()
    },
  }
}
