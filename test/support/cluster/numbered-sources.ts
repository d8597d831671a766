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

/** A source of numbered words in real time. */
export interface NumberedSource {
  readonly url: string
  /** The part of the audio that each puller received, in seconds from the start. The last part may still grow. */
  readonly pulls: () => ReadonlyArray<{ readonly from: number; readonly to: number }>
  /** The present position in the audio, in seconds. */
  readonly position: () => number
}

/** Lossless, so the samples keep the values that name their word. */
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

/** Serves a live HLS playlist that keeps all segments and ends after the words. */
export const serveHls = async (t: ExecutionContext, audio: Int16Array): Promise<NumberedSource> => {
  const segmenting = ['-hls_time', String(SEGMENT_SECONDS), '-hls_list_size', '0', '-hls_segment_type', 'fmp4']
  const folder = await encode(t, audio, ['-f', 'hls', ...segmenting, 'index.m3u8'])
  const playlist = (await readFile(join(folder, 'index.m3u8'), 'utf8')).trim()
  const [head = '', ...segments] = playlist.replace('#EXT-X-ENDLIST', '').split('#EXTINF:')
  const files = filesOf(folder)
  let began: number | null = null
  const server = await serve(t, (request, response) => {
    if (request.url !== '/index.m3u8') return files(request, response)
    began ??= performance.now()
    const published = 1 + Math.floor((performance.now() - began) / 1000 / SEGMENT_SECONDS)
    const end = published >= segments.length ? '#EXT-X-ENDLIST\n' : ''
    response.end(head + segments.slice(0, published).map((segment) => `#EXTINF:${segment}`).join('') + end)
  })
  return { url: server.url('index.m3u8'), pulls: () => [], position: () => secondsSince(began) }
}

interface FlacPackets {
  /** The stream information that a decoder needs first. */
  readonly info: Buffer
  readonly packets: ReadonlyArray<Buffer>
}

/** Reads the FLAC packets of an MP4 file. */
const packetsIn = async (folder: string, name: string): Promise<FlacPackets> => {
  const bytes = await readFile(join(folder, name))
  const args = ['-v', 'error', '-show_entries', 'packet=size,pos', '-of', 'csv=p=0', name]
  const { stdout } = await run(FFMPEG.replace('ffmpeg', 'ffprobe'), args, { cwd: folder, maxBuffer: 10_000_000 })
  const packets = stdout.trim().split('\n').map((line) => {
    const [size = 0, start = 0] = line.split(',').map(Number)
    return bytes.subarray(start, start + size)
  })
  const box = bytes.indexOf('dfLa')
  return { info: bytes.subarray(box + 8, box + 8 + 38), packets }
}

/** Enhanced RTMP 2.0: extended header, kind of packet, four letters of the codec. */
const FLAC_CONFIG = Buffer.from('\x90fLaCfLaC', 'latin1')
const FLAC_PACKET = Buffer.from('\x91fLaC', 'latin1')

/** Serves a live RTMP stream. Players receive the present audio only. After the words the stream is silent. */
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
  return { url: server.url('live/words'), pulls: () => pulls, position: () => secondsSince(began) }
}
