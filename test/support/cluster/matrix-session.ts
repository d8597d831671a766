import type { ExecutionContext } from 'ava'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { Json, LiveJson } from '../service/client.ts'
import { eventually } from '../tools/eventually.ts'
import type { Cell } from './matrix-cells.ts'
import { listenTo, speakerAt, storedNumbers, upTo } from './numbered-session.ts'
import type { NumberedListener } from './numbered-session.ts'
import { serveHls, serveWordsByRtmp } from './numbered-sources.ts'
import type { NumberedSource } from './numbered-sources.ts'
import { numberedAudio, secondsOf } from './numbered-words.ts'
import { sendInRealTime } from './realtime-sender.ts'
import type { RealtimeSender } from './realtime-sender.ts'

type Url = () => string

/** A session of numbered words that somebody listens to through each of two processes. */
export interface MatrixSession {
  readonly cell: Cell
  readonly live: LiveJson
  readonly words: number
  /** Seconds of silence before the words. */
  readonly lead: number
  readonly listeners: ReadonlyArray<NumberedListener>
  readonly source: NumberedSource | null
  readonly sender: RealtimeSender | null
  /** Tells it that the fault strikes now. */
  readonly struck: () => void
  /** Seconds of its source's audio until then. */
  readonly struckAt: () => number
  readonly stop: () => void
}

const leadIn = (seconds: number, words: number): Int16Array => {
  const [said, silence] = [numberedAudio(words), Math.round(seconds * SAMPLE_RATE)]
  const audio = new Int16Array(silence + said.length)
  audio.set(said, silence)
  return audio
}

/** Asks until a process answers. */
export const untilAnswered = <A>(ask: () => Promise<A>): Promise<A> => eventually(ask, { timeoutMs: 60_000 })

interface Beginning {
  readonly cell: Cell
  readonly words: number
  readonly lead: number
  /** Processes that clients use. */
  readonly anyone: ReadonlyArray<Url>
  /** The same, the one in danger first, where the session runs; null where it may not run. */
  readonly frontsOf: (live: LiveJson) => Promise<ReadonlyArray<Url> | null>
}

const ATTEMPTS = 8

/** Begins a session at a worker that may be; those that came elsewhere are ended. */
export const beginSession = async (t: ExecutionContext, { cell, words, lead, anyone, frontsOf }: Beginning): Promise<MatrixSession> => {
  const audio = leadIn(lead, words)
  const speaker = await untilAnswered(() => speakerAt(anyone.at(-1)?.() ?? ''))
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
    const stop = (): void => [sender, ...listeners].forEach((one) => one?.stop())
    let at = Infinity
    const struck = (): void => void (at = source?.at() ?? Infinity)
    return { cell, live, words, lead, source, sender, listeners, struck, struckAt: () => at, stop }
  }
  throw new Error('no session came to a worker that it may run at')
}

/** Seconds of the audio at which a word begins and ends. */
const spanOf = (session: MatrixSession, word: number): readonly [number, number] =>
  [session.lead + secondsOf(word - 1) - 1, session.lead + secondsOf(word) - 1]

/** Of words that are said and not final yet when a connection breaks. */
const OPEN_SECONDS = 8
/** What is said until another worker hears it is in the memory of the process of its socket alone. */
const TAKEOVER_SECONDS = 12

type Exception = (session: MatrixSession, word: number) => boolean

/**
 * Exception: a server of RTMP does not send again what it sent while nobody pulled, or to a puller that could store nothing from the fault on: it died,
 * stood still, or had no key for its text.
 */
const rtmpDoesNotResend: Exception = (session, word) => {
  if (session.cell.source !== 'rtmp') return false
  const [from, to] = spanOf(session, word)
  const pulls = session.source?.pulls() ?? []
  const struckAt = session.struckAt()
  return pulls.slice(1).some((next, i) => {
    const { from: began = 0, to: ended = 0 } = pulls[i] ?? {}
    const brokeAt = struckAt < began ? ended : Math.min(struckAt, ended)
    return to > brokeAt - OPEN_SECONDS && from < next.from + 0.2
  })
}

/** Exception: a raw sender whose own socket broke loses what it sent into it and no worker has heard yet. */
const ownSocketBroke: Exception = (session, word) => {
  const [from, to] = spanOf(session, word)
  const unheard = OPEN_SECONDS + (session.cell.moment === 'in-takeover' ? TAKEOVER_SECONDS : 0)
  return (session.sender?.breaks ?? []).some(({ at }) => to > at - unheard && from < at + 0.2)
}

const EXCEPTIONS: ReadonlyArray<readonly [string, Exception]> = [
  ['RTMP does not resend', rtmpDoesNotResend],
  ["the sender's own socket broke", ownSocketBroke],
]

const isRising = (numbers: ReadonlyArray<number>): boolean => numbers.every((n, i) => i === 0 || n > (numbers[i - 1] ?? 0))

/** What is wrong with a session that is over, and which exceptions it needed. */
const judge = (session: MatrixSession, stored: ReadonlyArray<number>) => {
  const missing = upTo(session.words).filter((word) => !stored.includes(word))
  const excused = missing.map((word) => EXCEPTIONS.find(([, holds]) => holds(session, word))?.[0] ?? null)
  const lost = missing.filter((_, i) => excused[i] === null)
  const wrong: Array<string> = []
  if (lost.length > 0) wrong.push(`lost ${lost.join(' ')}`)
  if (!isRising(stored)) wrong.push(`stored twice or out of order: ${stored.join(' ')}`)
  for (const [i, listener] of session.listeners.entries()) {
    const told = listener.finals()
    if (told.join(' ') !== stored.join(' ')) wrong.push(`listener ${i + 1} was told ${told.join(' ')}, stored is ${stored.join(' ')}`)
    if (!listener.starts().every((start, at, all) => at === 0 || start >= (all[at - 1] ?? 0))) wrong.push(`times of listener ${i + 1} fall: ${listener.starts().join(' ')}`)
  }
  return { wrong, lost: missing.length, exceptions: [...new Set(excused.filter((name) => name !== null))] }
}

const tellsLast = ({ listeners, words }: MatrixSession): boolean => listeners.some((listener) => listener.finals().includes(words))

/** Waits until a session is over, and judges it. Whose server never ends is ended behind the last word. */
export const judged = async (session: MatrixSession, front: Url) => {
  const limit = { timeoutMs: 180_000 }
  const speaker = (): ReturnType<typeof speakerAt> => untilAnswered(() => speakerAt(front()))
  try {
    if (session.cell.source === 'rtmp') {
      await eventually(() => {
        if (!tellsLast(session)) throw new Error(`only ${session.listeners.map((l) => l.finals().at(-1)).join(' and ')} of ${session.words} words were told`)
      }, limit)
      await eventually(async () => {
        const { status } = await (await speaker()).put(`/lives/${session.live.id}/finish`)
        if (status !== 200) throw new Error(`finish is answered ${status}`)
      }, limit)
    }
    const ends = [session.sender?.over, ...session.listeners.map((listener) => listener.over)]
    const ended = Promise.all(ends.map(async (end) => await end)).then(() => true)
    await eventually(async () => {
      if (!(await Promise.race([ended, Promise.resolve(false)]))) throw new Error(`it does not end; told ${session.listeners.map((l) => l.finals().join(' ')).join(' and ')}`)
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
