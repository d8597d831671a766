import type { ExecutionContext } from 'ava'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { Json, LiveJson } from '../service/client.ts'
import { eventually } from '../tools/eventually.ts'
import type { Cell } from './matrix-cells.ts'
import { listenTo, speakerAt, storedNumbers, upTo, type NumberedListener } from './numbered-session.ts'
import { serveHls, serveWordsByRtmp, type NumberedSource } from './numbered-sources.ts'
import { numberedAudio, secondsOf } from './numbered-words.ts'
import { sendInRealTime, type RealtimeSender } from './realtime-sender.ts'

type Url = () => string

/** A session of numbered words with one listener at each of two processes. */
export interface MatrixSession {
  readonly cell: Cell
  readonly live: LiveJson
  readonly words: number
  /** Seconds of silence before the words. */
  readonly lead: number
  readonly listeners: ReadonlyArray<NumberedListener>
  readonly source: NumberedSource | null
  readonly sender: RealtimeSender | null
  /** Records that the fault strikes now. */
  readonly recordStrike: () => void
  /** The position of its source when the fault struck, in seconds. */
  readonly strikePosition: () => number
  readonly stop: () => void
}

const leadIn = (seconds: number, words: number): Int16Array => {
  const [speech, silence] = [numberedAudio(words), Math.round(seconds * SAMPLE_RATE)]
  const audio = new Int16Array(silence + speech.length)
  audio.set(speech, silence)
  return audio
}

/** Repeats a request until a process answers. */
export const untilAnswered = <A>(request: () => Promise<A>): Promise<A> => eventually(request, { timeoutMs: 60_000 })

interface Beginning {
  readonly cell: Cell
  readonly words: number
  readonly lead: number
  /** The URLs of the processes that clients use. */
  readonly clientUrls: ReadonlyArray<Url>
  /**
   * The URLs that the clients of a session use. The process that the fault will strike comes first. Null when the
   * session runs at the wrong worker.
   */
  readonly frontsOf: (live: LiveJson) => Promise<ReadonlyArray<Url> | null>
}

const ATTEMPTS = 8

/** Begins a session at the right worker. Sessions that were placed at another worker are finished. */
export const beginSession = async (
  t: ExecutionContext,
  { cell, words, lead, clientUrls, frontsOf }: Beginning,
): Promise<MatrixSession> => {
  const audio = leadIn(lead, words)
  const speaker = await untilAnswered(() => speakerAt(clientUrls.at(-1)?.() ?? ''))
  const elsewhere: Array<LiveJson> = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const source = cell.source === 'raw' ? null : await (cell.source === 'hls' ? serveHls : serveWordsByRtmp)(t, audio)
    const pulled: Json = source === null ? {} : { audio_format: cell.source, audio_url: source.url, auto_start: true }
    const live = await untilAnswered(() => speaker.createLive({ live_retention: true, ...pulled }))
    const front = await frontsOf(live)
    if (front === null) {
      elsewhere.push(live)
      continue
    }
    for (const { id } of elsewhere) await untilAnswered(() => speaker.put(`/lives/${id}/finish`))
    const sender = source === null ? sendInRealTime(live, front, audio) : null
    const listeners = [listenTo(live, front), listenTo(live, front.toReversed())]
    const stop = (): void => [sender, ...listeners].forEach((client) => client?.stop())
    let strikePosition = Infinity
    const recordStrike = (): void => void (strikePosition = source?.position() ?? Infinity)
    const strike = { recordStrike, strikePosition: () => strikePosition }
    return { cell, live, words, lead, source, sender, listeners, ...strike, stop }
  }
  throw new Error('no session was placed at the right worker')
}

/** The start and the end of a word in the audio, in seconds. */
const spanOf = (session: MatrixSession, word: number): readonly [number, number] =>
  [session.lead + secondsOf(word - 1) - 1, session.lead + secondsOf(word) - 1]

/** When a connection breaks, up to this many of the last seconds of audio are not final yet. */
const OPEN_SECONDS = 8
/** Seconds of audio that only the process of the socket has until another worker has taken over. */
const TAKEOVER_SECONDS = 12

type Exception = (session: MatrixSession, word: number) => boolean

/**
 * An RTMP server does not repeat audio. Words may be lost that it sent while no puller was connected. Words may also be
 * lost that it sent to a puller that could not store text after the fault: it died, was frozen, or had no key.
 */
const rtmpDoesNotResend: Exception = (session, word) => {
  if (session.cell.source !== 'rtmp') return false
  const [from, to] = spanOf(session, word)
  const pulls = session.source?.pulls() ?? []
  const strikePosition = session.strikePosition()
  return pulls.slice(1).some((next, i) => {
    const { from: began = 0, to: ended = 0 } = pulls[i] ?? {}
    const brokeAt = strikePosition < began ? ended : Math.min(strikePosition, ended)
    return to > brokeAt - OPEN_SECONDS && from < next.from + 0.2
  })
}

/** A raw sender whose own socket broke may lose the words that no worker had transcribed. */
const ownSocketBroke: Exception = (session, word) => {
  const [from, to] = spanOf(session, word)
  const untranscribed = OPEN_SECONDS + (session.cell.moment === 'in-takeover' ? TAKEOVER_SECONDS : 0)
  return (session.sender?.breaks ?? []).some(({ at }) => to > at - untranscribed && from < at + 0.2)
}

const EXCEPTIONS: ReadonlyArray<readonly [string, Exception]> = [
  ['RTMP does not resend', rtmpDoesNotResend],
  ["the sender's own socket broke", ownSocketBroke],
]

const isRising = (numbers: ReadonlyArray<number>): boolean =>
  numbers.every((n, i) => i === 0 || n > (numbers[i - 1] ?? 0))

/** Returns the problems of an ended session, and the exceptions that excused lost words. */
const judge = (session: MatrixSession, stored: ReadonlyArray<number>) => {
  const missing = upTo(session.words).filter((word) => !stored.includes(word))
  const excused = missing.map((word) => EXCEPTIONS.find(([, holds]) => holds(session, word))?.[0] ?? null)
  const lost = missing.filter((_, i) => excused[i] === null)
  const wrong: Array<string> = []
  if (lost.length > 0) wrong.push(`lost ${lost.join(' ')}`)
  if (!isRising(stored)) wrong.push(`stored twice or out of order: ${stored.join(' ')}`)
  for (const [i, listener] of session.listeners.entries()) {
    const [received, expected] = [listener.finals().join(' '), stored.join(' ')]
    if (received !== expected) wrong.push(`listener ${i + 1} received ${received}, stored is ${expected}`)
    const starts = listener.starts()
    const isOrdered = starts.every((start, n) => n === 0 || start >= (starts[n - 1] ?? 0))
    if (!isOrdered) wrong.push(`the times of listener ${i + 1} decrease: ${starts.join(' ')}`)
  }
  return { wrong, lost: missing.length, exceptions: [...new Set(excused.filter((name) => name !== null))] }
}

const hasLastWord = ({ listeners, words }: MatrixSession): boolean =>
  listeners.some((listener) => listener.finals().includes(words))

/** Waits until a session has ended and judges it. A session with an endless source is finished after the last word. */
export const judgeAtEnd = async (session: MatrixSession, front: Url) => {
  const limit = { timeoutMs: 180_000 }
  const speaker = (): ReturnType<typeof speakerAt> => untilAnswered(() => speakerAt(front()))
  try {
    if (session.cell.source === 'rtmp') {
      await eventually(() => {
        const newest = session.listeners.map((listener) => listener.finals().at(-1)).join(' and ')
        if (!hasLastWord(session)) throw new Error(`the listeners have ${newest} of ${session.words} words`)
      }, limit)
      await eventually(async () => {
        const { status } = await (await speaker()).put(`/lives/${session.live.id}/finish`)
        if (status !== 200) throw new Error(`finishing the session failed with status ${status}`)
      }, limit)
    }
    const ends = [session.sender?.ended, ...session.listeners.map((listener) => listener.ended)]
    const ended = Promise.all(ends.map(async (end) => await end)).then(() => true)
    await eventually(async () => {
      const received = session.listeners.map((listener) => listener.finals().join(' ')).join(' and ')
      const hasEnded = await Promise.race([ended, Promise.resolve(false)])
      if (!hasEnded) throw new Error(`the session does not end; the listeners have ${received}`)
    }, limit)
    const client = await speaker()
    const stored = await untilAnswered(() => storedNumbers(client, session.live))
    return judge(session, stored)
  } catch (error) {
    return { wrong: [error instanceof Error ? error.message : String(error)], lost: 0, exceptions: [] }
  } finally {
    session.stop()
  }
}
