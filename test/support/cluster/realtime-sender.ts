import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { openSocket, type LiveJson, type TestSocket } from '../service/client.ts'

/** Samples of one frame: 100 ms. */
const FRAME = SAMPLE_RATE / 10

/** A sender that reconnects at the next URL after each break, and continues where the audio broke off. */
export interface RealtimeSender {
  /** The position in the audio (seconds) and the close code of each break. */
  readonly breaks: ReadonlyArray<{ readonly at: number; readonly code: number }>
  /** Resolves when the session has ended. */
  readonly ended: Promise<void>
  /** Resolves when the first socket was accepted. */
  readonly begun: Promise<void>
  readonly stop: () => void
}

const hasEnded = (code: number): boolean => code === 1000 || (code >= 4400 && code < 4500 && code !== 4409)

/** Sends audio in real time, then FINISH. */
export const sendInRealTime = (
  live: LiveJson,
  urls: ReadonlyArray<() => string>,
  audio: Int16Array,
): RealtimeSender => {
  const breaks: Array<RealtimeSender['breaks'][number]> = []
  const first = Promise.withResolvers<void>()
  let position = 0
  const stopping = new AbortController()
  let current: TestSocket | undefined

  /** Sends on a socket until the returned function is called. */
  const send = (socket: TestSocket): (() => void) => {
    const begun = performance.now() - (position / SAMPLE_RATE) * 1000
    let finished = false
    const ticking = setInterval(() => {
      const due = ((performance.now() - begun) / 1000) * SAMPLE_RATE
      for (; position < audio.length && position < due; position += FRAME)
        socket.sendAudio(audio.subarray(position, position + FRAME))
      if (position < audio.length || finished) return
      finished = true
      socket.send({ type: 'FINISH' })
    }, 100)
    return () => clearInterval(ticking)
  }

  /** Uses one socket until it closes. Returns the close code; null when the socket was never accepted. */
  const useSocket = async (url: string): Promise<number | null> => {
    current = await openSocket(`${url.replace(/^http/, 'ws')}${live.relative_path}?token=${live.sender_token}`)
    const socket = current
    socket.send({ type: 'config' })
    const started = socket.frame(({ status }) => status === 'started').then(() => true, () => false)
    if (!(await started)) {
      const { code } = await Promise.race([socket.ended, Promise.resolve({ code: 0 })])
      socket.terminate()
      return hasEnded(code) ? code : null
    }
    first.resolve()
    const stopSending = send(socket)
    const { code } = await socket.ended
    stopSending()
    return code
  }

  const run = async (): Promise<void> => {
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      const code = await useSocket(urls[attempt % urls.length]?.() ?? '').catch(() => null)
      if (code !== null && hasEnded(code)) return
      if (code !== null) breaks.push({ at: position / SAMPLE_RATE, code })
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
  return {
    breaks,
    ended: run(),
    begun: first.promise,
    stop: () => {
      stopping.abort()
      current?.terminate()
    },
  }
}
