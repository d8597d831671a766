import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { FFMPEG, filesOf, packageSample, serve, withFfmpeg } from '../../support/sources/audio-server.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startRetryingSource } from '../../support/sources/retrying-source.ts'
import { pullOnce } from '../../support/sources/pulling.ts'
import { flvAudio, serveRtmp } from '../../support/sources/rtmp-server.ts'
import { aacAudio, opusAudio, pcmuAudio, serveRtsp, type RtpAudio } from '../../support/sources/rtsp-server.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { toneExpression, tonesIn } from '../../support/audio/tones.ts'

const SECONDS = 24
const RATE = 16_000
const run = promisify(execFile)

/**
 * Writes HLS with tone n in second n and segments of two seconds. Its media times begin at `origin`, in seconds.
 * Returns the folder.
 */
const packageTones = async (t: ExecutionContext, type: 'mpegts' | 'fmp4', origin: number): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const tones = ['-f', 'lavfi', '-t', String(SECONDS), '-i', toneExpression(0)]
  const hls = ['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', '-hls_segment_type', type]
  const output = ['-c:a', 'aac', '-b:a', '64k', '-output_ts_offset', String(origin), ...hls, 'index.m3u8']
  await run(FFMPEG, ['-v', 'error', ...tones, ...output], { cwd: path })
  return path
}

/** Returns the number of the tone in the middle of each second. Null means silence. */
const tonesOfSeconds = (samples: Int16Array): ReadonlyArray<number | null> =>
  Array.from({ length: Math.floor(samples.length / RATE) }, (_, second) => {
    const [tone] = [...tonesIn(samples.subarray((second + 0.2) * RATE, (second + 0.8) * RATE)).keys()]
    return tone ?? null
  })

const samplesUntilEnd = async (t: ExecutionContext, url: string) => {
  const listening = startRetryingSource(t, url)
  await eventually(() => assert.deepEqual(listening.ends, ['completed']), { timeoutMs: 60_000 })
  return listening.samples()
}

/** Returns the tones that are expected when these segments are lost and become silence. */
const expectedWithout = (...segments: ReadonlyArray<number>): ReadonlyArray<number | null> =>
  Array.from({ length: SECONDS }, (_, second) => (segments.includes(Math.floor(second / 2)) ? null : second))

for (const type of ['mpegts', 'fmp4'] as const)
  withFfmpeg(`${type}: lost segments become silence, and later audio keeps its time`, async (t) => {
    // Times of MPEG-TS have 33 bits and 90 kHz, so they wrap around at 95,443 s, in the middle of this recording.
    const files = filesOf(await packageTones(t, type, type === 'mpegts' ? 95_433 : 0))
    const server = await serve(t, (request, response) => {
      if (/\/index(?:3|7|8)\./.test(request.url ?? '')) response.writeHead(404).end()
      else files(request, response)
    })
    t.deepEqual(tonesOfSeconds(await samplesUntilEnd(t, server.url('index.m3u8'))), expectedWithout(3, 7, 8))
  })

withFfmpeg('a discontinuity is no gap, but segments that are lost at a discontinuity leave a gap', async (t) => {
  const [before, after] = [await packageTones(t, 'mpegts', 0), await packageTones(t, 'mpegts', 300)]
  const lines = (await readFile(join(before, 'index.m3u8'), 'utf8')).split('\n')
  const playlist = lines.map((line) => {
    const number = Number(/^index(\d+)\.ts$/.exec(line)?.[1])
    if (Number.isNaN(number)) return line
    const tag = number === 4 || number === 8 ? '#EXT-X-DISCONTINUITY\n' : ''
    return `${tag}${line}?${number >= 4 && number < 8 ? 'after' : 'before'}`
  })
  const [first, second] = [filesOf(before), filesOf(after)]
  const server = await serve(t, (request, response) => {
    if (request.url === '/index.m3u8') response.end(playlist.join('\n'))
    else if (request.url?.startsWith('/index8.') === true) response.writeHead(404).end()
    else (request.url?.endsWith('after') === true ? second : first)(request, response)
  })
  t.true((await readdir(after)).length > 10)
  t.deepEqual(tonesOfSeconds(await samplesUntilEnd(t, server.url('index.m3u8'))), expectedWithout(8))
})

withFfmpeg('rtmp: a gap between connections is silence, unless the times restart', async (t) => {
  const messages = flvAudio(await readFile(join(await packageSample(t, 'flv', 5), 'audio.flv')))
  const assertLength = async (seconds: number, secondOrigin: number): Promise<void> => {
    const timeOf = (connection: number, index: number): number =>
      (connection === 0 ? 500_000 : secondOrigin) + index * 64
    const server = await serveRtmp(t, messages, { timeOf })
    const listening = startRetryingSource(t, server.url('live/ok'))
    await eventually(() => assert.ok(listening.seconds() >= 9.9, `${listening.seconds()} s`), { timeoutMs: 60_000 })
    await listening.stop()
    const length = listening.samples().length / RATE
    t.true(Math.abs(length - seconds) < 0.3, `${length} s`)
  }
  // Five seconds, then seven missing seconds, then five seconds.
  await Promise.all([assertLength(17, 512_000), assertLength(10, 0)])
})

/** Returns the packets of an Ogg stream, without its two headers. */
const packetsOf = (ogg: Buffer): ReadonlyArray<Buffer> => {
  const packets: Array<Buffer> = []
  let parts: Array<Buffer> = []
  for (let page = 0; page + 27 <= ogg.length; ) {
    const segments = ogg.subarray(page + 27, page + 27 + ogg.readUInt8(page + 26))
    let at = page + 27 + segments.length
    for (const length of segments) {
      parts.push(ogg.subarray(at, at + length))
      at += length
      if (length < 255) packets.push(Buffer.concat(parts.splice(0)))
    }
    page = at
  }
  return packets.slice(2)
}

const opusOf = async (t: ExecutionContext, seconds: number): Promise<RtpAudio> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const tones = ['-f', 'lavfi', '-t', String(seconds), '-i', toneExpression(0)]
  await run(FFMPEG, ['-v', 'error', ...tones, '-c:a', 'libopus', 'audio.ogg'], { cwd: path })
  return opusAudio(packetsOf(await readFile(join(path, 'audio.ogg'))))
}

for (const [codec, rate] of [['pcmu', 8000], ['opus', 48_000]] as const)
  withFfmpeg(`rtsp: lost ${codec} packets become silence, also when timestamps wrap around`, async (t) => {
    const audio = codec === 'pcmu' ? pcmuAudio(3) : await opusOf(t, 3)
    const packets = audio.packets.slice(0, 150).map((packet, index) => {
      const shifted = Buffer.from(packet)
      shifted.writeUInt32BE((2 ** 32 - rate + index * (rate / 50) + (index < 100 ? 0 : 4 * rate)) % 2 ** 32, 4)
      return shifted
    })
    const server = await serveRtsp(t, { ...audio, packets })
    const listening = startRetryingSource(t, server.url('ok'))
    await eventually(() => assert.ok(listening.seconds() >= 2.9, `${listening.seconds()} s`), { timeoutMs: 60_000 })
    await listening.stop()
    const loud = Array.from(listening.samples(), (value) => Math.abs(value) > 100)
    const isLoudAt = (second: number): boolean => loud.slice(second * RATE, second * RATE + 100).some(Boolean)
    t.deepEqual([0.5, 1.5, 2.5, 5.5, 6.5].map(isLoudAt), [true, true, false, false, true])
  })

/** Returns the time of each tag of an FLV stream, in milliseconds. */
const timesOf = (flv: Buffer): ReadonlyArray<number> => {
  const times: Array<number> = []
  for (let at = 13; at + 11 <= flv.length; at += 15 + flv.readUIntBE(at + 1, 3)) times.push(flv.readUIntBE(at + 4, 3))
  return times
}

test('rtmp: the tags of an aggregate message keep their distance', async (t) => {
  const server = await serveRtmp(t, [])
  const { code, bytes } = await pullOnce(server.url('live/aggregate'))
  t.is(code, 'stream_over')
  t.deepEqual(timesOf(bytes), [0, 64])
})

withFfmpeg('rtsp: each AAC unit has its own time, also in a packet with several units', async (t) => {
  const flv = await readFile(join(await packageSample(t, 'flv', 1), 'audio.flv'))
  const server = await serveRtsp(t, aacAudio(flvAudio(flv)))
  const [config, ...units] = timesOf((await pullOnce(server.url('ok'))).bytes)
  t.is(config, 0)
  t.deepEqual(units, units.map((_, index) => index * 64))
})
