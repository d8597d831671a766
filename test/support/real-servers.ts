import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { FFMPEG } from './audio-server.ts'
import { eventually } from './eventually.ts'
import { serialTestWith } from './skip-unless.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { toneExpression } from './tones.ts'

const NGINX = '/usr/sbin/nginx'
const RTMP_MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so'
const PYTHON = '/usr/bin/python3'
const run = promisify(execFile)

/** Debian's nginx and libnginx-mod-rtmp, ffmpeg and openssl. */
export const withNginx = serialTestWith(NGINX, RTMP_MODULE, FFMPEG, '/usr/bin/openssl')
/** Debian's gir1.2-gst-rtsp-server-1.0, python3-gi and gstreamer1.0-plugins-{base,good,ugly}, gstreamer1.0-libav. */
export const withGstreamer = serialTestWith(
  PYTHON, '/usr/lib/python3/dist-packages/gi', '/usr/lib/x86_64-linux-gnu/girepository-1.0/GstRtspServer-1.0.typelib',
  ...['rtp', 'lame', 'libav', 'opus', 'mulaw'].map((plugin) => `/usr/lib/x86_64-linux-gnu/gstreamer-1.0/libgst${plugin}.so`),
)

export const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const accepts = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })

/** A process of ours that can be killed and started again. */
export interface RealServer {
  readonly start: () => Promise<void>
  /** kill -9. */
  readonly kill: () => Promise<void>
}

const serverOf = (t: ExecutionContext, launch: () => ChildProcess, ready: () => Promise<void>): RealServer => {
  let child: ChildProcess | null = null
  const kill = async (): Promise<void> => {
    const ending = child
    child = null
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return
    const exited = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill('SIGKILL')
    await exited
  }
  t.teardown(kill)
  return {
    start: async () => {
      child = launch()
      await ready()
    },
    kill,
  }
}

export interface Certificate {
  readonly key: string
  readonly certificate: string
}

/** For 127.0.0.1, signed by itself. */
export const makeCertificate = async (folder: string, name: string): Promise<Certificate> => {
  const [key, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
  await run('/usr/bin/openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate, ...subject])
  return { key, certificate }
}

/** TLS in front of a port; returns its own. */
export const tlsInFrontOf = async (t: ExecutionContext, port: number, { key, certificate }: Certificate): Promise<number> => {
  const server = createTlsServer({ key: await readFile(key), cert: await readFile(certificate) }, (socket) => {
    const behind = connect({ host: '127.0.0.1', port })
    for (const [one, other] of [[socket, behind], [behind, socket]] as const) {
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void server.close())
  return (server.address() as AddressInfo).port
}

export interface Nginx extends RealServer {
  readonly http: number
  readonly rtmp: number
  /** What it serves. */
  readonly root: string
}

/** nginx with RTMP (application `live`) and HTTP; `/secret/` wants okapi and wapiti. */
export const createNginx = async (t: ExecutionContext): Promise<Nginx> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [http, rtmp] = [await freePort(), await freePort()]
  const root = join(path, 'www')
  await mkdir(join(root, 'secret'), { recursive: true })
  await writeFile(join(path, 'passwords'), 'okapi:{PLAIN}wapiti 47\n')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${path}/${name};`).join(' ')
  await writeFile(join(path, 'nginx.conf'), `
    load_module ${RTMP_MODULE}; daemon off; master_process off; pid ${path}/pid; error_log ${path}/error.log;
    events {}
    rtmp { access_log off; server { listen 127.0.0.1:${rtmp}; application live { live on; } } }
    http { access_log off; ${temporary}
      server { listen 127.0.0.1:${http}; root ${root}; location /secret/ { auth_basic x; auth_basic_user_file ${path}/passwords; } } }`)
  const launch = (): ChildProcess => spawn(NGINX, ['-c', join(path, 'nginx.conf'), '-e', join(path, 'error.log')], { stdio: 'ignore' })
  const server = serverOf(t, launch, () => eventually(() => accepts(rtmp)))
  return { ...server, http, rtmp, root }
}

/** GStreamer's RTSP server; see gst_rtsp_server.py. `epoch`: ms since 1970 of tone 0. */
export const createGstreamer = async (t: ExecutionContext, { kind = '', epoch = 0 } = {}) => {
  const port = await freePort()
  const script = join(import.meta.dirname, 'gst_rtsp_server.py')
  const launch = (): ChildProcess => spawn(PYTHON, [script, String(port), String(epoch / 1000), ...(kind === '' ? [] : [kind])], { stdio: 'ignore' })
  return { ...serverOf(t, launch, () => eventually(() => accepts(port))), port }
}

/** ffmpeg sends numbered tones in real time to what `output` says, again and again until the test ends. */
export const sendTones = (t: ExecutionContext, epoch: number, output: ReadonlyArray<string>, cwd = '/'): void => {
  let over = false
  let child: ChildProcess | undefined
  const send = (): void => {
    if (over) return
    const tones = toneExpression((Date.now() - epoch) / 1000)
    child = spawn(FFMPEG, ['-v', 'error', '-re', '-f', 'lavfi', '-i', tones, '-c:a', 'aac', '-b:a', '64k', ...output], { stdio: 'ignore', cwd })
    // Its server is away: soon it may be back.
    child.once('exit', () => setTimeout(send, 100))
  }
  send()
  t.teardown(() => {
    over = true
    child?.kill('SIGKILL')
  })
}

/** Waits for a file that somebody writes. */
export const written = (path: string): Promise<unknown> => eventually(async () => assert.ok((await readFile(path)).length > 0), { timeoutMs: 60_000 })
