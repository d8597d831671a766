import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Client } from '../service/client.ts'
import { patiently } from '../tools/eventually.ts'

const pick = <A>(values: ReadonlyArray<A>): A => {
  const value = values[randomInt(values.length)]
  if (value === undefined) throw new Error('nothing to pick from')
  return value
}

/** JSON values that no member accepts, or that are at a limit. */
const odd = (): unknown =>
  pick<unknown>([
    null, true, 0, -0, 1e308, -1, 2 ** 53, '', '\u0000', '\uD800', '__proto__', [], [[]], {}, { __proto__: { x: 1 } },
    'x'.repeat(2000), Array.from({ length: 300 }, () => 0), { toString: 1 }, { length: -1 },
  ])

const TYPES = [
  'config', 'audio', 'ping', 'FINISHED', 'finish', 'CONFIG', '', 'constructor', '__proto__', 'transcription', null, 7,
]
const SETTINGS = [
  'min_buffer', 'max_buffer', 'max_chars', 'max_lines', 'vad', 'mode', 'buffer_timeout', 'max_delay', 'punctuation',
  '__proto__',
]

const mutated = (text: string): string => {
  const position = randomInt(text.length + 1)
  const inserted = pick(['', '"', '{', '\\', '\u0000', 'é', '🎧', '1e999', text.slice(position).repeat(2)])
  return text.slice(0, position) + inserted + text.slice(position + randomInt(3))
}

const message = (): string => {
  const data = pick([odd(), randomBytes(randomInt(60)).toString('base64')])
  return JSON.stringify({ type: pick(TYPES), data, [pick(SETTINGS)]: odd(), extra: odd() })
}

/** Ten of eleven frames are correct, so a connection stays open for some time. */
const frame = (): string | Buffer => {
  switch (randomInt(44)) {
    case 0:
      return randomBytes(randomInt(80)).toString('latin1')
    case 1:
      return message()
    case 2:
      return mutated(message())
    case 3:
      return '['.repeat(randomInt(2000))
    default:
      return pick<() => string | Buffer>([
        () => JSON.stringify({ type: 'ping', extra: odd() }),
        () => randomBytes(2 * randomInt(40)),
        () => JSON.stringify({ type: 'audio', data: randomBytes(2 * randomInt(40)).toString('base64'), extra: odd() }),
        () => '{"type":"config"}',
      ])()
  }
}

const ANSWER = /^\{"(type":"(connection|error|pong|transcription)"|status":"(ASR process started|started|finished)")/

/** Concurrent connections. */
const CONNECTIONS = 8
/** Frames that a connection sends before the other connections send theirs. */
const FRAMES_PER_TURN = 20
/** A connection is replaced after this many frames. */
const FRAMES_PER_CONNECTION = 2000

/** The result of fuzzing. */
interface Fuzzed {
  /** Frames and close codes that no client must receive. */
  readonly surprises: ReadonlyArray<string>
  /** The number of closes by code. */
  readonly closes: Readonly<Record<number, number>>
}

/** Sends `count` random frames to senders and listeners of a service without rate limits. */
export const fuzzFrames = async (client: Client, count: number): Promise<Fuzzed> => {
  const surprises: Array<string> = []
  const closes: Record<number, number> = {}
  const sent = { frames: 0 }

  const connection = async (): Promise<void> => {
    // A busy machine may not answer in time, so requests are repeated.
    const live = await patiently(() => client.createLive())
    const role = randomInt(4) === 0 ? 'listener' : 'sender'
    const token = role === 'sender' ? live.sender_token : live.listener_token
    const url = `${client.url.replace('http', 'ws')}${live.relative_path}?token=${token}`
    const socket = await patiently(async () => {
      const opening = new WebSocket(url)
      opening.on('message', (data) => {
        const text = (data as Buffer).toString()
        if (!ANSWER.test(text)) surprises.push(text)
      })
      await once(opening, 'open')
      return opening
    })
    // An error is followed by the close.
    socket.on('error', () => undefined)
    const closed = new Promise<number>((resolve) => socket.once('close', resolve)).then((code) => {
      closes[code] = (closes[code] ?? 0) + 1
      if (![1000, 1005, 1008, 1009, 4403].includes(code)) surprises.push(`${role} closed with ${code}`)
    })
    const mayContinue = (): boolean => socket.readyState === WebSocket.OPEN && sent.frames < count
    for (let number = 0; number < FRAMES_PER_CONNECTION && mayContinue(); number += 1) {
      sent.frames += 1
      socket.send(frame())
      // Lets answers and the close arrive.
      if (number % FRAMES_PER_TURN === FRAMES_PER_TURN - 1) await new Promise(setImmediate)
    }
    socket.close()
    await closed
    if (role === 'listener') await patiently(() => client.put(`/lives/${live.id}/finish`))
  }

  const connections = async (): Promise<void> => {
    while (sent.frames < count) await connection()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connections))
  return { surprises, closes }
}
