import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { LiveJson, TestSocket } from '../service/client.ts'
import { openSocket } from '../service/client.ts'

/** Samples of a frame: 100 ms. */
const FRAME = SAMPLE_RATE / 10

/** A sender that comes back through the next process when its socket breaks, and goes on with what is said by then. */
export interface RealtimeSender {
  /** Seconds of audio sent when each of its sockets broke, and when the next one was taken. */
  readonly breaks: ReadonlyArray<{ readonly at: number; readonly code: number; backAt: number | null }>
  /** Resolves when its session is over. */
  readonly over: Promise<void>
  /** Resolves when it was taken for the first time. */
  readonly begun: Promise<void>
  readonly stop: () => void
}

const isOver = (code: number): boolean => code === 1000 || (code >= 4400 && code < 4500 && code !== 4409)

/** Says the audio in real time, then FINISH. */
export const sendInRealTime = (live: LiveJson, urls: ReadonlyArray<() => string>, audio: Int16Array): RealtimeSender => {
  const breaks: Array<RealtimeSender['breaks'][number]> = []
  const first = Promise.withResolvers<void>()
  let at = 0
  const stopping = new AbortController()
  let current: TestSocket | undefined

  const say = (socket: TestSocket): (() => void) => {
    const begun = performance.now() - (at / SAMPLE_RATE) * 1000
    let finished = false
    const ticking = setInterval(() => {
      const due = ((performance.now() - begun) / 1000) * SAMPLE_RATE
      for (; at < audio.length && at < due; at += FRAME) socket.sendAudio(audio.subarray(at, at + FRAME))
      if (at < audio.length || finished) return
      finished = true
      socket.send({ type: 'FINISH' })
    }, 100)
    return () => clearInterval(ticking)
  }

  /** One socket until it closes; its close code, null where it was never taken. */
  const once = async (url: string): Promise<number | null> => {
    current = await openSocket(`${url.replace(/^http/, 'ws')}${live.relative_path}?token=${live.sender_token}`)
    const socket = current
    socket.send({ type: 'config' })
    const started = socket.frame(({ status }) => status === 'started').then(() => true, () => false)
    if (!(await started)) {
      const { code } = await Promise.race([socket.over, Promise.resolve({ code: 0 })])
      socket.terminate()
      return isOver(code) ? code : null
    }
    for (const one of breaks) one.backAt ??= at / SAMPLE_RATE
    first.resolve()
    const silence = say(socket)
    const { code } = await socket.over
    silence()
    return code
  }

  const run = async (): Promise<void> => {
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      const code = await once(urls[attempt % urls.length]?.() ?? '').catch(() => null)
      if (code !== null && isOver(code)) return
      if (code !== null) breaks.push({ at: at / SAMPLE_RATE, code, backAt: null })
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
  return {
    breaks,
    over: run(),
    begun: first.promise,
    stop: () => {
      stopping.abort()
      current?.terminate()
    },
  }
}
