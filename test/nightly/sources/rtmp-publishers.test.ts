import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { Demuxer } from 'node-av/api'
import { startAttempt } from '../../../infrastructure/sources/puller/attempt.ts'
import { createFrameReader } from '../../../infrastructure/sources/puller/puller-messages.ts'
import { toneExpression, tonesIn } from '../../support/audio/tones.ts'
import { FFMPEG, withFfmpeg } from '../../support/sources/audio-server.ts'
import { startRetryingSource } from '../../support/sources/retrying-source.ts'
import { serveRtmp } from '../../support/sources/rtmp-server.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { freePort } from '../../support/tools/free-port.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const SECONDS = 3
const RATE = 16_000

/** An audio message and its time in milliseconds. */
interface Message {
  readonly time: number
  readonly audio: Buffer
}

/** What an encoder makes of the tones `first`, `first` + 1 and `first` + 2. */
const encoded = async (t: ExecutionContext, first: number, ...options: ReadonlyArray<string>) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'audio.mka')
  const tones = ['-f', 'lavfi', '-t', String(SECONDS), '-i', toneExpression(first)]
  await promisify(execFile)(FFMPEG, ['-v', 'error', ...tones, ...options, file])
  await using input = await Demuxer.open(file)
  const stream = input.audio()
  assert(stream !== undefined)
  const { num, den } = stream.timeBase
  const frames: Array<Message> = []
  for await (using packet of input.packets(stream.index)) {
    if (packet?.data) frames.push({ time: (Number(packet.pts) * 1000 * num) / den, audio: Buffer.from(packet.data) })
  }
  return { parameters: Buffer.from(stream.codecpar.extradata ?? []), frames }
}

type Encoded = Awaited<ReturnType<typeof encoded>>

/** Messages with these bytes before the parameters and before each frame. Encoders send times in milliseconds. */
const messagesOf = ({ parameters, frames }: Encoded, start: string, frame: string): ReadonlyArray<Message> =>
  [{ time: 0, audio: parameters }, ...frames].map(({ time, audio }, index) => ({
    time: Math.max(0, Math.round(time)),
    audio: Buffer.concat([Buffer.from(index === 0 ? start : frame, 'latin1'), audio]),
  }))

const enhanced = (audio: Encoded, codec: string): ReadonlyArray<Message> =>
  messagesOf(audio, `\x90${codec}`, `\x91${codec}`)
const aac = (audio: Encoded): ReadonlyArray<Message> => messagesOf(audio, '\xaf\0', '\xaf\x01')

/** Pulls these messages once, with a decoder. Returns the samples. */
const received = async (t: ExecutionContext, messages: ReadonlyArray<Message>): Promise<Int16Array> => {
  const server = await serveRtmp(t, [], {
    playing: (socket, send) => {
      for (const { time, audio } of messages) send(time, audio)
      socket.end()
    },
  })
  const pieces: Array<Buffer> = []
  const read = createFrameReader({ audio: ({ pcm }) => void pieces.push(Buffer.from(pcm)), message: () => undefined })
  const rules = { allow: ['127.0.0.1/32'], ownPort: null }
  const command = { url: server.url('live/ok'), mediaSequence: null, rules, isolate: true }
  const end = await startAttempt(command, async (frame) => read(frame)).done
  t.deepEqual(end, { kind: 'interrupted', code: 'closed_after_audio' })
  const bytes = new Uint8Array(Buffer.concat(pieces))
  return new Int16Array(bytes.buffer)
}

/** The tone that sounds longest in the middle of a second. The edges contain two tones. */
const toneAt = (samples: Int16Array, second: number): number | undefined =>
  [...tonesIn(samples.subarray((second + 0.2) * RATE, (second + 0.8) * RATE))]
    .toSorted(([, a], [, b]) => b - a)
    .map(([number]) => number)[0]

/** Second n must be tone n. */
const assertTones = (t: ExecutionContext, samples: Int16Array, count: number): void => {
  const seconds = Array.from({ length: count }, (_, index) => index)
  t.deepEqual(seconds.map((second) => toneAt(samples, second)), seconds)
  t.true(Math.abs(samples.length / RATE - count) < 0.3, `${samples.length / RATE} s`)
}

const AT_48_KHZ = ['-ar', '48000', '-ac', '2', '-c:a']

for (const [codec, ...options] of [
  ['Opus', ...AT_48_KHZ, 'libopus'],
  ['ac-3', ...AT_48_KHZ, 'ac3'],
  ['ec-3', ...AT_48_KHZ, 'eac3'],
  ['fLaC', '-c:a', 'flac'],
  ['mp4a', '-c:a', 'aac'],
  ['.mp3', '-c:a', 'libmp3lame'],
] as const)
  withFfmpeg(`enhanced RTMP: ${codec} is transcribed whole`, async (t) => {
    assertTones(t, await received(t, enhanced(await encoded(t, 0, ...options), codec)), SECONDS)
  })

withFfmpeg('enhanced RTMP: FLAC is transcribed also when its parameters are the head of a file', async (t) => {
  const { parameters, frames } = await encoded(t, 0, '-c:a', 'flac')
  const streamInfo = parameters.subarray(-34)
  const header = Buffer.concat([Buffer.from('fLaC\x80\0\0\x22', 'latin1'), streamInfo])
  assertTones(t, await received(t, enhanced({ parameters: header, frames }, 'fLaC')), SECONDS)
})

withFfmpeg('enhanced RTMP: of several tracks the default one is transcribed', async (t) => {
  const speech = await encoded(t, 0, '-ar', '16000', '-ac', '1', '-c:a', 'libopus', '-b:a', '24k')
  const music = await encoded(t, 10, ...AT_48_KHZ, 'libopus', '-b:a', '192k')
  const track = (number: string, audio: Encoded): ReadonlyArray<Message> =>
    messagesOf(audio, `\x95\0Opus${number}`, `\x95\x01Opus${number}`)
  const both = [...track('\x01', music), ...track('\0', speech)].toSorted((a, b) => a.time - b.time)
  assertTones(t, await received(t, both), SECONDS)
})

withFfmpeg('rtmp: a publisher may restart with other parameters while the connection stays', async (t) => {
  const first = aac(await encoded(t, 0, '-c:a', 'aac'))
  for (const second of [
    aac(await encoded(t, SECONDS, ...AT_48_KHZ, 'aac')),
    enhanced(await encoded(t, SECONDS, ...AT_48_KHZ, 'libopus'), 'Opus'),
  ])
    assertTones(t, await received(t, [...first, ...second]), 2 * SECONDS)
})

withFfmpeg('rtmp: a session whose ffmpeg plays its stream and closes finishes after about a minute', async (t) => {
  t.timeout(300_000)
  const url = `rtmp://127.0.0.1:${await freePort()}/live/x`
  const tones = ['-f', 'lavfi', '-t', String(SECONDS), '-i', toneExpression(0)]
  const encoder = spawn(FFMPEG, ['-v', 'error', '-re', ...tones, '-c:a', 'aac', '-f', 'flv', '-listen', '1', url])
  t.teardown(() => encoder.kill('SIGKILL'))
  const ended = new Promise((resolve) => encoder.once('exit', resolve))
  const listening = startRetryingSource(t, url)
  await ended
  const endedAt = performance.now()
  await eventually(() => assert.equal(listening.ends.length, 1), { timeoutMs: 120_000 })
  t.log(`${((performance.now() - endedAt) / 1000).toFixed(0)} s after its end; ${listening.codes().join(' ')}`)
  t.deepEqual(listening.ends, ['completed'])
  t.true(listening.codes().includes('closed_after_audio'))
  t.true(Math.abs(listening.seconds() - SECONDS) < 0.3, `${listening.seconds()} s`)
})
