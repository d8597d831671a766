import { setTimeout as delay } from 'node:timers/promises'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { LiveJson, TestSocket } from '../service/client.ts'
import { openSocket } from '../service/client.ts'
import { wordAfter } from './numbered-words.ts'

/** Samples of a frame. */
const FRAME = SAMPLE_RATE / 10
/** Milliseconds until a sender whose socket broke is back. */
const PAUSE_MS = 1000

/** A sender in real time that comes back whenever its socket breaks, and goes on with the next whole word. */
export interface ResumingSender {
  /** Resolves when its session is over, to the close code; rejects where it may not come back. */
  readonly over: Promise<number>
  /** Numbers of the words that it went on with after each break: what it said shortly before may be lost. */
  readonly breaks: ReadonlyArray<number>
  /** FINISH as soon as the word is out that is being said; tells how many words were said. */
  readonly finish: () => Promise<number>
  /** Its socket breaks, and it does not come back. */
  readonly stop: () => void
}

/** Says numbered `audio` through the processes at `urls`, the next one after each break. */
export const sendAndResume = async (urls: ReadonlyArray<() => string>, live: LiveJson, audio: Int16Array): Promise<ResumingSender> => {
  const breaks: Array<number> = []
  let [at, until] = [0, audio.length]
  let current: TestSocket | undefined
  const stopping = new AbortController()
  const enter = async (url: string): Promise<TestSocket> => {
    const socket = await openSocket(`${url.replace(/^http/, 'ws')}${live.relative_path}?token=${live.sender_token}`)
    current = socket
    socket.send({ type: 'config' })
    await socket.frame(({ status }) => status === 'started')
    return socket
  }
  const say = async (socket: TestSocket): Promise<number> => {
    let due = at
    let last = performance.now()
    const ticking = setInterval(() => {
      const now = performance.now()
      due += ((now - last) / 1000) * SAMPLE_RATE
      last = now
      for (; at < until && at + FRAME <= due; at += FRAME) socket.sendAudio(audio.subarray(at, Math.min(at + FRAME, until)))
      if (at < until) return
      clearInterval(ticking)
      socket.send({ type: 'FINISH' })
    }, 100)
    const { code } = await socket.over
    clearInterval(ticking)
    return code
  }
  const run = async (first: TestSocket): Promise<number> => {
    let code = await say(first)
    for (let attempt = 1; !stopping.signal.aborted && (code === 1006 || code === 1012 || code === 1001); attempt += 1) {
      await delay(PAUSE_MS)
      const socket = await enter(urls[attempt % urls.length]?.() ?? '').catch(() => null)
      if (socket === null) continue
      if (at < until) {
        const { number, from } = wordAfter(at)
        breaks.push(number)
        at = Math.min(from, until)
      }
      code = await say(socket)
    }
    return code
  }
  return {
    over: run(await enter(urls[0]?.() ?? '')),
    breaks,
    finish: async () => {
      const { number, from } = wordAfter(at)
      until = Math.min(from, audio.length)
      return number - 1
    },
    stop: () => {
      stopping.abort()
      current?.terminate()
    },
  }
}
