import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { FFMPEG, filesOf, serve } from '../sources/audio-server.ts'
import { serveRtmp } from '../sources/rtmp-server.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'
import { wavOf } from '../audio/wav.ts'

const run = promisify(execFile)

/** A server of words in real time, which are over once. */
export interface NumberedSource {
  readonly url: string
  /** Seconds of audio, counted from its beginning, that each puller was sent: from, and up to; the last one may still grow. */
  readonly pulls: () => ReadonlyArray<{ readonly from: number; readonly to: number }>
  /** Seconds of audio that it has said by now. */
  readonly at: () => number
}

/** Lossless, so that each sample goes on saying its number. */
const FLAC = ['-c:a', 'flac', '-sample_fmt', 's16', '-frame_size', '1024', '-strict', '-2']
const FRAME_SECONDS = 1024 / SAMPLE_RATE
const SEGMENT_SECONDS = 1

const secondsSince = (began: number | null): number => (began === null ? 0 : (performance.now() - began) / 1000)

const encode = async (t: ExecutionContext, audio: Int16Array, output: ReadonlyArray<string>): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await writeFile(join(path, 'words.wav'), wavOf(audio, SAMPLE_RATE))
  await run(FFMPEG, ['-v', 'error', '-i', 'words.wav', ...FLAC, ...output], { cwd: path })
  return path
}

/** A live playlist that keeps all its segments, and ends with the words. */
export const serveHls = async (t: ExecutionContext, audio: Int16Array): Promise<NumberedSource> => {
  const hls = ['-f', 'hls', '-hls_time', String(SEGMENT_SECONDS), '-hls_list_size', '0', '-hls_segment_type', 'fmp4', 'index.m3u8']
  const folder = await encode(t, audio, hls)
  const playlist = (await readFile(join(folder, 'index.m3u8'), 'utf8')).trim()
  const [head = '', ...segments] = playlist.replace('#EXT-X-ENDLIST', '').split('#EXTINF:')
  const files = filesOf(folder)
  let began: number | null = null
  const server = await serve(t, (request, response) => {
    if (request.url !== '/index.m3u8') return files(request, response)
    began ??= performance.now()
    const out = 1 + Math.floor((performance.now() - began) / 1000 / SEGMENT_SECONDS)
    const end = out >= segments.length ? '#EXT-X-ENDLIST\n' : ''
    response.end(head + segments.slice(0, out).map((segment) => `#EXTINF:${segment}`).join('') + end)
  })
  return { url: server.url('index.m3u8'), pulls: () => [], at: () => secondsSince(began) }
}

/** Where packets stand in an MP4 file, and what its decoder has to know first. */
const packetsIn = async (folder: string, name: string): Promise<{ readonly info: Buffer; readonly packets: ReadonlyArray<Buffer> }> => {
  const bytes = await readFile(join(folder, name))
  const { stdout } = await run(FFMPEG.replace('ffmpeg', 'ffprobe'), ['-v', 'error', '-show_entries', 'packet=size,pos', '-of', 'csv=p=0', name], {
    cwd: folder, maxBuffer: 10_000_000,
  })
  const packets = stdout.trim().split('\n').map((line) => {
    const [size = 0, at = 0] = line.split(',').map(Number)
    return bytes.subarray(at, at + size)
  })
  const box = bytes.indexOf('dfLa')
  return { info: bytes.subarray(box + 8, box + 8 + 38), packets }
}

/** Enhanced RTMP, 2.0: an extended header, the kind of packet, four letters of codec. */
const FLAC_CONFIG = Buffer.from('\x90fLaCfLaC', 'latin1')
const FLAC_PACKET = Buffer.from('\x91fLaC', 'latin1')

/** A live stream: whoever plays it hears what is said now, and nothing of what was said before. It is silent behind the words. */
export const serveWordsByRtmp = async (t: ExecutionContext, audio: Int16Array): Promise<NumberedSource> => {
  const { info, packets } = await packetsIn(await encode(t, audio, ['words.mp4']), 'words.mp4')
  const silence = packets.at(-2) ?? Buffer.alloc(0)
  const pulls: Array<{ from: number; to: number }> = []
  let began: number | null = null
  const server = await serveRtmp(t, [], {
    playing: (socket, send) => {
      began ??= performance.now()
      const begun = began
      const due = (): number => Math.floor((performance.now() - begun) / 1000 / FRAME_SECONDS)
      let next = due()
      const pull = { from: next * FRAME_SECONDS, to: next * FRAME_SECONDS }
      pulls.push(pull)
      send(Math.round(next * FRAME_SECONDS * 1000), Buffer.concat([FLAC_CONFIG, info]))
      const ticking = setInterval(() => {
        for (; next <= due(); next += 1) {
          send(Math.round(next * FRAME_SECONDS * 1000), Buffer.concat([FLAC_PACKET, packets[next] ?? silence]))
          pull.to = next * FRAME_SECONDS
        }
      }, 50)
      socket.once('close', () => clearInterval(ticking))
    },
  })
  return { url: server.url('live/words'), pulls: () => pulls, at: () => secondsSince(began) }
}
