import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { createPullers } from '../../../infrastructure/sources/puller/puller-client.ts'
import { FFMPEG, filesOf, packageSample, serve } from '../../support/sources/audio-server.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { processGroupOf } from '../../support/tools/processes.ts'
import { ISOLATED } from '../../support/sources/pulling.ts'
import { flvAudio, serveRtmp } from '../../support/sources/rtmp-server.ts'
import { aacAudio, serveRtsp } from '../../support/sources/rtsp-server.ts'
import { serialTestWith } from '../../support/running/skip-unless.ts'

const ROUNDS = 50

const onLinux = serialTestWith('/proc/self/fd', FFMPEG)

/** Starts one RTMP, one RTSP and one HLS source. Returns their URLs. Each pull starts from the beginning. */
const sources = async (t: ExecutionContext): Promise<ReadonlyArray<string>> => {
  const messages = flvAudio(await readFile(join(await packageSample(t, 'flv', 20), 'audio.flv')))
  const files = await serve(t, filesOf(await packageSample(t, 'ts', 20)))
  return [
    (await serveRtmp(t, messages)).url('live/ok'),
    (await serveRtsp(t, aacAudio(messages))).url('ok'),
    files.url('index.m3u8'),
  ]
}

onLinux(`${ROUNDS} rounds of starting and stopping sources leak no process and no descriptor`, async (t) => {
  t.timeout(900_000)
  const urls = await sources(t)
  const start = createPullers({ rules: () => ({ allow: ['127.0.0.1/32'], ownPort: null }), isolation: ISOLATED })
  const groups: Array<number> = []

  /** Starts one source and stops it after its first audio. Stops every fifth source while it starts. */
  const round = async (index: number): Promise<void> => {
    let samples = 0
    const puller = start({
      began: () => undefined, stretch: () => undefined, audio: (pcm) => { samples += pcm.length },
      delivered: () => undefined, targetDuration: () => undefined, damaged: () => undefined,
      ended: () => undefined, died: () => undefined,
    })
    // A failed round must not leave a puller.
    t.teardown(puller.stop)
    const pid = puller.pid ?? 0
    groups.push(pid)
    puller.pull({ url: urls[index % urls.length] ?? '', mediaSequence: null })
    if (index % 5 === 4) await eventually(() => assert.equal(processGroupOf(pid).length, 2))
    else await eventually(() => assert.ok(samples > 0), { timeoutMs: 60_000 })
    await puller.stop()
  }
  // The servers run in this process, so their sockets count too.
  const descriptors = (): number => readdirSync('/proc/self/fd').length
  await round(0)
  await round(1)
  await round(2)
  const before = await eventually(() => {
    const [first, second] = [descriptors(), descriptors()]
    assert.equal(first, second)
    return first
  })
  for (let index = 0; index < ROUNDS; index += 1) await round(index)
  await eventually(() => assert.ok(descriptors() <= before, `${descriptors()} descriptors after, ${before} before`))
  for (const pid of groups) t.deepEqual(processGroupOf(pid), [])
})
