import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { logIn, openSocket, type Client, type LiveJson, type TestSocket } from '../service/client.ts'
import { ADMIN, passwordOf } from '../service/service.ts'
import { numberedAudio, numbersIn } from './numbered-words.ts'

const FRAME_SECONDS = 0.1

const socketUrl = (url: string, { relative_path: path }: LiveJson, token: string): string =>
  `${url.replace(/^http/, 'ws')}${path}?token=${token}`

/** A listener that reconnects whenever its socket breaks. */
export interface NumberedListener {
  /** The numbers of final words in the order of arrival. */
  readonly finals: () => ReadonlyArray<number>
  /** The close codes of its sockets so far. */
  readonly closes: () => ReadonlyArray<number>
  /** The times at which text arrived, final or not, by `performance.now`. */
  readonly times: () => ReadonlyArray<number>
  /** The start of each final in the session, in the order of arrival. */
  readonly starts: () => ReadonlyArray<number>
  /** The highest number received, final or not. */
  readonly newest: () => number
  /** Resolves when the session has ended. */
  readonly ended: Promise<void>
  readonly stop: () => void
}

const hasEnded = (code: number): boolean => code === 1000 || (code >= 4400 && code < 4500)

/** Listens at the first of `urls`. After each break it continues at the next URL and requests the missed finals. */
export const listenTo = (live: LiveJson, urls: ReadonlyArray<() => string>): NumberedListener => {
  const [finals, closes, times, starts]: [Array<number>, Array<number>, Array<number>, Array<number>] = [[], [], [], []]
  const stopping = new AbortController()
  let newest = 0
  let current: TestSocket | undefined
  const run = async (): Promise<void> => {
    let segment = 0
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      const url = urls[attempt % urls.length]?.() ?? ''
      try {
        current = await openSocket(`${socketUrl(url, live, live.listener_token)}&after=${segment}`)
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 200))
        continue
      }
      let seen = 0
      const take = (): void => {
        for (const frame of current?.frames.slice(seen) ?? []) {
          seen += 1
          if (frame['segment'] === undefined) continue
          times.push(performance.now())
          newest = Math.max(newest, ...numbersIn(String(frame['text'])))
          if (frame['final'] !== true) continue
          segment = Math.max(segment, Number(frame['segment']))
          starts.push(Number(frame['start']))
          finals.push(...numbersIn(String(frame['text'])))
        }
      }
      const ticking = setInterval(take, 20)
      const { code } = await current.ended
      clearInterval(ticking)
      take()
      closes.push(code)
      if (hasEnded(code)) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const ended = run()
  return {
    finals: () => finals,
    closes: () => closes,
    times: () => times,
    starts: () => starts,
    newest: () => newest,
    ended,
    stop: () => {
      stopping.abort()
      current?.terminate()
    },
  }
}

/** A sender of numbered words. */
export interface NumberedSender {
  /** Resolves to the close code when the session has ended. */
  readonly ended: Promise<number>
  readonly socket: TestSocket
  /** Seconds of audio sent so far. */
  readonly sent: () => number
  readonly cut: () => void
}

/** Sends words and then FINISH. `speed` 1 is real time. */
export const sendWords = async (url: string, live: LiveJson, words: number, speed = 1): Promise<NumberedSender> => {
  const socket = await openSocket(socketUrl(url, live, live.sender_token))
  socket.send({ type: 'config' })
  await socket.frame(({ status }) => status === 'started')
  const audio = numberedAudio(words)
  const size = Math.round(FRAME_SECONDS * SAMPLE_RATE)
  let position = 0
  const begun = performance.now()
  const ticking = setInterval(() => {
    const due = ((performance.now() - begun) / 1000) * speed * SAMPLE_RATE
    for (; position < audio.length && position < due; position += size)
      socket.sendAudio(audio.subarray(position, position + size))
    if (position < audio.length) return
    clearInterval(ticking)
    socket.send({ type: 'FINISH' })
  }, FRAME_SECONDS * 1000)
  void socket.ended.then(() => clearInterval(ticking))
  return {
    ended: socket.ended.then(({ code }) => code),
    socket,
    sent: () => position / SAMPLE_RATE,
    cut: () => socket.terminate(),
  }
}

/** Logs in as a user with the permission to keep text. Creates the user if it does not exist. */
export const speakerAt = async (url: string): Promise<Client> => {
  const [username, password] = ['speaker', passwordOf('speaker')]
  const admin = await logIn(url, ADMIN.username, ADMIN.password)
  const body = { username, password, permissions: ['user_retention'], max_sessions: 100 }
  const { status } = await admin.post('/users/', body)
  // 409: the user exists.
  if (status !== 200 && status !== 409) throw new Error(`creating the speaker failed with status ${status}`)
  return await logIn(url, username, password)
}

/** Returns the numbers in the stored transcript, in order. */
export const storedNumbers = async (client: Client, { id }: LiveJson): Promise<ReadonlyArray<number>> => {
  const { status, body } = await client.get<string>(`/lives/${id}/transcript?format=txt`)
  if (status !== 200) throw new Error(`reading the transcript failed with status ${status}: ${JSON.stringify(body)}`)
  return numbersIn(body)
}

/** The numbers 1 to `count`. */
export const upTo = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, i) => i + 1)

/** Returns the longest time between two texts, in milliseconds. The later text must have arrived after `moment`. */
export const longestSilence = ({ times }: Pick<NumberedListener, 'times'>, moment: number): number =>
  Math.max(...times().map((time, i, all) => (time > moment ? time - (all[i - 1] ?? time) : 0)))
