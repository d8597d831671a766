import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

export const FFMPEG = '/usr/bin/ffmpeg'
const ROOT = join(import.meta.dirname, '..', '..', '..')
export const SAMPLE = join(ROOT, 'interfaces', 'cli', 'streaming', 'demo', 'sample.flac')

/** `test`, or `test.skip` when Debian's ffmpeg, which makes the sources, is not installed. */
export const withFfmpeg = existsSync(FFMPEG) ? test : test.skip

const run = promisify(execFile)

export type Packaging = 'ts' | 'fmp4' | 'aes' | 'mp3' | 'm4a' | 'late' | 'flv'

const HLS = ['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', '-hls_list_size', '0']

/**
 * Packages the first seconds of the demo's sample with ffmpeg into a folder: `index.m3u8`, `audio.mp3`, `audio.m4a` or
 * `audio.flv`. `late`: an MP4 file with its index at the end. The folder is removed with the test.
 */
export const packageSample = async (t: ExecutionContext, packaging: Packaging, seconds: number): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const key = join(path, 'key.info')
  if (packaging === 'aes') {
    await writeFile(join(path, 'hls.key'), Buffer.from('0123456789abcdef'))
    await writeFile(key, `hls.key\n${join(path, 'hls.key')}\n`)
  }
  const output = {
    ts: [...HLS, 'index.m3u8'],
    fmp4: [...HLS, '-hls_segment_type', 'fmp4', 'index.m3u8'],
    aes: [...HLS, '-hls_key_info_file', key, 'index.m3u8'],
    mp3: ['-b:a', '64k', 'audio.mp3'],
    flv: ['audio.flv'],
    late: ['audio.m4a'],
    m4a: ['-movflags', '+faststart', 'audio.m4a'],
  }[packaging]
  const codec = packaging === 'mp3' ? [] : ['-c:a', 'aac', '-b:a', '64k']
  await run(FFMPEG, ['-v', 'error', '-y', '-t', String(seconds), '-i', SAMPLE, ...codec, ...output], { cwd: path })
  return path
}

export interface AudioServer {
  readonly port: number
  readonly url: (path: string) => string
  /** The requested paths, in order. */
  readonly requests: ReadonlyArray<string>
  /** Stops the server and closes all connections. */
  readonly stop: () => Promise<void>
}

/** Starts an HTTP server that ends with the test. `port` 0: a free port. */
export const serve = async (
  t: ExecutionContext,
  listener: RequestListener,
  host = '127.0.0.1',
  port = 0,
): Promise<AudioServer> => {
  const requests: Array<string> = []
  const sockets = new Set<Socket>()
  const server: Server = createServer((request, response) => {
    requests.push(request.url ?? '')
    listener(request, response)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  const bound = (server.address() as AddressInfo).port
  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  t.teardown(stop)
  return { port: bound, url: (path) => `http://${host}:${bound}/${path}`, requests, stop }
}

/** Serves the files of a folder, with ranges. */
export const filesOf = (folder: string): RequestListener => (request, response) => {
  const name = (request.url ?? '').replace(/\?.*/, '').slice(1)
  readFile(join(folder, name)).then(
    (bytes) => {
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const part = from === undefined ? bytes : bytes.subarray(Number(from), Number(to) + 1)
      const status = from === undefined ? 200 : part.length === 0 ? 416 : 206
      const last = Number(from) + part.length - 1
      const range = from === undefined ? {} : { 'content-range': `bytes ${from}-${last}/${bytes.length}` }
      response.writeHead(status, { 'content-length': part.length, ...range }).end(part)
    },
    () => response.writeHead(404).end(),
  )
}

/** Serves `live.m3u8`, a playlist that never ends. It repeats the two segments of `packageSample(t, 'ts', 4)`. */
export const endlessHls = (folder: string): RequestListener => {
  const began = Date.now()
  const files = filesOf(folder)
  return (request, response) => {
    if (request.url?.startsWith('/live.m3u8') !== true) return files(request, response)
    const now = Math.floor((Date.now() - began) / 2000)
    const segments = [now, now + 1, now + 2].map((sequence) => `#EXTINF:2,\nindex${sequence % 2}.ts?${sequence}\n`)
    response.end(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:${now}\n${segments.join('')}`)
  }
}
