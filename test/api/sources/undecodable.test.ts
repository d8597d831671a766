import test, { type ExecutionContext } from 'ava'
import { SourceError } from '../../../infrastructure/sources/source-error.ts'
import { startDecoder } from '../../../infrastructure/sources/decoder/decoder.ts'
import { startAttempt } from '../../../infrastructure/sources/puller/attempt.ts'
import { createFrameReader, type PullerMessage } from '../../../infrastructure/sources/puller/puller-messages.ts'
import { wavOf } from '../../support/audio/wav.ts'
import { serve } from '../../support/sources/audio-server.ts'
import { matroskaOf } from '../../support/sources/matroska.ts'

const RATE = 16_000
const RULES = { allow: ['127.0.0.1/32'], ownPort: null }
const SOUND = wavOf(new Int16Array(2 * RATE).fill(1000), RATE)
const NOTHING = Buffer.alloc(20_000, 'no sound at all ')
const BROKEN = matroskaOf([{}], [{ at: 0, bytes: Buffer.from([7]) }])

/** Serves bodies by path, and a recording `/index.m3u8` of segments, each of which begins a new stretch. */
const served = (
  t: ExecutionContext,
  bodies: Readonly<Record<string, Buffer>>,
  segments: ReadonlyArray<string> = [],
) => {
  const lines = segments.map((name) => `#EXT-X-DISCONTINUITY\n#EXTINF:2,\n${name}\n`)
  const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n${lines.join('')}#EXT-X-ENDLIST\n`
  return serve(t, (request, response) => {
    const body = request.url === '/index.m3u8' ? Buffer.from(playlist) : bodies[(request.url ?? '').slice(1)]
    if (body === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-length': body.length }).end(body)
  })
}

/** Runs one attempt with its decoders. Returns its end, its messages and the seconds of its audio. */
const attempt = async (url: string) => {
  const messages: Array<PullerMessage> = []
  let [samples, loud] = [0, 0]
  const read = createFrameReader({
    audio: ({ pcm }) => {
      samples += pcm.length / 2
      for (let at = 0; at < pcm.length; at += 2) loud += pcm.readInt16LE(at) === 0 ? 0 : 1
    },
    message: (message) => messages.push(message),
  })
  const command = { url, mediaSequence: null, rules: RULES, isolate: false }
  const end = await startAttempt(command, async (frame) => read(frame)).done
  return { end, messages, seconds: samples / RATE, loudSeconds: loud / RATE }
}

test('HLS goes on behind a segment that cannot be decoded, and tells its seconds as lost', async (t) => {
  const server = await served(t, { sound: SOUND, nothing: NOTHING, broken: BROKEN },
    ['sound', 'nothing', 'broken', 'sound', 'nothing'])
  const { end, messages, seconds } = await attempt(server.url('index.m3u8'))
  t.deepEqual(end, { kind: 'complete' })
  t.is(seconds, 4)
  const losses = messages.flatMap((message) => (message.kind === 'stretch' ? [message.continuity.lost] : []))
  t.deepEqual(losses.slice(0, 4), [null, 0, 2, 4])
  t.is(messages.filter(({ kind }) => kind === 'damaged').length, 4)
  t.deepEqual(messages.findLast(({ kind }) => kind === 'delivered'), { kind: 'delivered', mediaSequence: 4 })
})

test('a source of which not one sample can be decoded fails with no_audio, at once', async (t) => {
  const server = await served(t, { nothing: NOTHING, broken: BROKEN, empty: wavOf(new Int16Array(0), RATE) },
    ['broken', 'broken'])
  for (const path of ['index.m3u8', 'nothing', 'broken', 'empty'])
    t.like((await attempt(server.url(path))).end, { kind: 'failed', code: 'no_audio', retry: false }, path)
  const long = await served(t, { broken: BROKEN }, Array.from({ length: 20 }, () => 'broken'))
  t.like((await attempt(long.url('index.m3u8'))).end, { code: 'no_audio', retry: false })
  t.true(long.requests.length <= 5, 'the rest of the recording is not fetched')
})

test('the audio of a file that begins late begins after silence; that of HLS does not', async (t) => {
  const late = matroskaOf([{}], [{ at: 5, bytes: Buffer.from(new Int16Array(RATE).fill(1000).buffer) }])
  const server = await served(t, { late }, ['late'])
  t.like(await attempt(server.url('late')), { seconds: 6, loudSeconds: 1 })
  t.like(await attempt(server.url('index.m3u8')), { seconds: 1, loudSeconds: 1 })
})

/** Feeds a decoder until it fails. */
const fedUntilFailure = async (bytes: Buffer): Promise<unknown> => {
  const decoder = startDecoder({ isolate: false, stream: false, onAudio: async () => undefined })
  try {
    for (let round = 0; round < 100; round += 1) await decoder.feed(bytes)
    return await decoder.finish()
  } catch (error) {
    return error instanceof SourceError ? error.code : error
  }
}

test('a decoder that ends before its bytes is told by its own cause, or is no failure', async (t) => {
  // More than a pipe holds, so the writer waits for a decoder that ends.
  t.is(await fedUntilFailure(Buffer.alloc(1 << 20, 'no sound')), 'not_audio')
  const after = Buffer.concat([SOUND, Buffer.alloc(1 << 20)])
  t.is(await fedUntilFailure(after), undefined)
})
