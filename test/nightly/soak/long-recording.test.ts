import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { FFMPEG, filesOf, SAMPLE, serve, withFfmpeg } from '../../support/sources/audio-server.ts'
import type { LiveJson, Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { processGroupOf } from '../../support/tools/processes.ts'
import { startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const HOURS = 3
/** Length of one piece of the recording: a minute of speech and nine minutes of silence. */
const PIECE_SECONDS = 600
/** Allowed growth from the second to the last quarter, because of garbage that is not collected yet. */
const SLACK_MEGABYTES = 40

const run = promisify(execFile)

const package3Hours = async (folder: string): Promise<void> => {
  const piece = join(folder, 'piece.wav')
  await run(FFMPEG, ['-v', 'error', '-i', SAMPLE, '-af', 'apad', '-t', String(PIECE_SECONDS), piece])
  const hls = ['-f', 'hls', '-hls_time', '10', '-hls_playlist_type', 'vod', '-hls_list_size', '0', 'index.m3u8']
  const loops = String((HOURS * 3600) / PIECE_SECONDS - 1)
  await run(FFMPEG, ['-v', 'error', '-stream_loop', loops, '-i', piece, '-c:a', 'aac', '-b:a', '32k', ...hls], {
    cwd: folder,
  })
}

/** Returns the resident memory of a process in megabytes, or 0 after its end. */
const memoryOf = (pid: number): number => {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

const childrenOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter((child) => child !== '')
    .map(Number)

withFfmpeg(`a recording of ${HOURS} hours is pulled to its end without memory growth`, async (t) => {
  t.timeout(3_600_000)
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await package3Hours(path)
  const server = await serve(t, filesOf(path))
  const service = await startTestService(t, { AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32' })
  const client = await service.user('archivist')
  const live = await client.createLive({ audio_format: 'hls', audio_url: server.url('index.m3u8'), auto_start: true })
  const listener = await client.socket(live, 'listener')
  const pid = await eventually(async () => {
    const { auto_start_pid: puller } = (await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data
    if (puller === null) throw new Error('the puller has not started')
    return puller
  })

  const samples: Array<Readonly<Record<string, number>>> = []
  const ended = listener.ended.then(() => true)
  do {
    const puller = processGroupOf(pid).map((member) => memoryOf(member))
    const engines = childrenOf(service.pid()).filter((child) => child !== pid).map((child) => memoryOf(child))
    const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)
    // The group has two processes: the puller and its decoder.
    if (puller.length === 2)
      samples.push({ service: memoryOf(service.pid()), puller: sum(puller), engine: sum(engines) })
  } while (!(await Promise.race([ended, delay(500, false)])))
  t.is((await listener.closed).code, 1000)

  const ends = listener.frames.filter(({ final }) => final === true).map(({ end }) => Number(end))
  t.true((ends.at(-1) ?? 0) > HOURS * 3600 - PIECE_SECONDS, 'the last piece was transcribed')
  t.is(
    new Set(ends.map((end) => Math.floor(end / PIECE_SECONDS))).size,
    (HOURS * 3600) / PIECE_SECONDS,
    'every piece was transcribed',
  )
  t.true(samples.length > 40, `${samples.length} samples`)
  const quarter = Math.floor(samples.length / 4)
  for (const part of ['service', 'puller', 'engine']) {
    const most = (from: number): number =>
      Math.max(...samples.slice(from, from + quarter).map((sample) => sample[part] ?? 0))
    const [second, last] = [most(quarter), most(3 * quarter)]
    t.log(`${part}: ${second.toFixed(0)} MB in the second quarter, ${last.toFixed(0)} MB in the last`)
    t.true(last - second < SLACK_MEGABYTES, part)
  }
})
