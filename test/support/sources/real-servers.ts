import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { FFMPEG, SAMPLE } from './audio-server.ts'
import { eventually } from '../tools/eventually.ts'
import { freePort } from '../tools/free-port.ts'
import { serialTestWith } from '../running/skip-unless.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'
import { toneExpression } from '../audio/tones.ts'

const NGINX = '/usr/sbin/nginx'
const RTMP_MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so'
const APACHE = '/usr/sbin/apache2'
const APACHE_MODULES = ['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_digest']
const PYTHON = '/usr/bin/python3'
const GSTREAMER_PLUGINS = '/usr/lib/x86_64-linux-gnu/gstreamer-1.0'
const run = promisify(execFile)

/** Debian's nginx and libnginx-mod-rtmp, ffmpeg and openssl. */
export const withNginx = serialTestWith(NGINX, RTMP_MODULE, FFMPEG, '/usr/bin/openssl')
/** Debian's apache2 and ffmpeg. */
export const withApache = serialTestWith(APACHE, '/usr/lib/apache2/modules/mod_auth_digest.so', FFMPEG)
/** Debian's gir1.2-gst-rtsp-server-1.0, python3-gi and gstreamer1.0-plugins-{base,good,ugly}, gstreamer1.0-libav. */
export const withGstreamer = serialTestWith(
  PYTHON, '/usr/lib/python3/dist-packages/gi', '/usr/lib/x86_64-linux-gnu/girepository-1.0/GstRtspServer-1.0.typelib',
  ...['rtp', 'lame', 'libav', 'opus', 'mulaw'].map((name) => join(GSTREAMER_PLUGINS, `libgst${name}.so`)),
)

const accepts = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })

/** A server process that a test kills and starts again. */
export interface RealServer {
  readonly start: () => Promise<void>
  /** Sends SIGKILL. */
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

/** Creates a self-signed certificate for 127.0.0.1. */
export const makeCertificate = async (folder: string, name: string): Promise<Certificate> => {
  const [key, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
  await run('/usr/bin/openssl', [...request, '-keyout', key, '-out', certificate, ...subject])
  return { key, certificate }
}

/** Starts a TLS proxy in front of a port. Returns the port of the proxy. */
export const tlsInFrontOf = async (
  t: ExecutionContext,
  port: number,
  { key, certificate }: Certificate,
): Promise<number> => {
  const server = createTlsServer({ key: await readFile(key), cert: await readFile(certificate) }, (socket) => {
    const target = connect({ host: '127.0.0.1', port })
    for (const [from, to] of [[socket, target], [target, socket]] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
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
  /** The folder that it serves. */
  readonly root: string
}

/**
 * Creates nginx with RTMP (application `live`) and HTTP. `/secret/` needs the user `okapi` with the password
 * `wapiti 47`; `/whole/` ignores ranges.
 */
export const createNginx = async (t: ExecutionContext): Promise<Nginx> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [http, rtmp] = [await freePort(), await freePort()]
  const root = join(path, 'www')
  for (const folder of ['secret', 'whole']) await mkdir(join(root, folder), { recursive: true })
  await writeFile(join(path, 'passwords'), 'okapi:{PLAIN}wapiti 47\n')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${path}/${name};`)
    .join(' ')
  await writeFile(join(path, 'nginx.conf'), `
    load_module ${RTMP_MODULE}; daemon off; master_process off; pid ${path}/pid; error_log ${path}/error.log;
    events {}
    rtmp { access_log off; server { listen 127.0.0.1:${rtmp}; application live { live on; } } }
    http { access_log off; ${temporary}
      server { listen 127.0.0.1:${http}; root ${root};
        location /secret/ { auth_basic x; auth_basic_user_file ${path}/passwords; }
        location /whole/ { max_ranges 0; } } }`)
  const args = ['-c', join(path, 'nginx.conf'), '-e', join(path, 'error.log')]
  const launch = (): ChildProcess => spawn(NGINX, args, { stdio: 'ignore' })
  const server = serverOf(t, launch, () => eventually(() => accepts(rtmp)))
  return { ...server, http, rtmp, root }
}

/**
 * Creates Apache's httpd. `/secret/` needs the user `okapi` with the password `wapiti 47` (Digest). `nonceSeconds`: the
 * lifetime of a nonce.
 */
export const createApache = async (t: ExecutionContext, nonceSeconds: number) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [port, root] = [await freePort(), join(path, 'www')]
  await mkdir(join(root, 'secret'), { recursive: true })
  // When the tests run as root, Apache serves as www-data.
  await chmod(path, 0o755)
  await writeFile(join(path, 'passwords'), `okapi:x:${createHash('md5').update('okapi:x:wapiti 47').digest('hex')}\n`)
  await writeFile(join(path, 'apache.conf'), `
    ServerRoot ${path}\n ServerName localhost\n Listen 127.0.0.1:${port}
    PidFile ${path}/pid\n ErrorLog ${path}/error.log\n DefaultRuntimeDir ${path}
    ${APACHE_MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
    <IfModule unixd_module>\n User www-data\n Group www-data\n </IfModule>
    DocumentRoot ${root}
    <Location /secret/>
    AuthType Digest\n AuthName x\n AuthUserFile ${path}/passwords\n AuthDigestNonceLifetime ${nonceSeconds}
    Require valid-user
    </Location>`)
  // -X: a single process, so a kill ends the whole server.
  const args = ['-X', '-f', join(path, 'apache.conf')]
  const launch = (): ChildProcess => spawn(APACHE, args, { stdio: 'ignore', env: {} })
  return { ...serverOf(t, launch, () => eventually(() => accepts(port))), port, root, log: join(path, 'error.log') }
}

/** GStreamer's RTSP server (see gst_rtsp_server.py). `epoch`: the time of tone 0 in milliseconds since 1970. */
export const createGstreamer = async (t: ExecutionContext, { kind = '', epoch = 0 } = {}) => {
  const port = await freePort()
  const script = join(import.meta.dirname, 'gst_rtsp_server.py')
  const args = [script, String(port), String(epoch / 1000), ...(kind === '' ? [] : [kind])]
  const launch = (): ChildProcess => spawn(PYTHON, args, { stdio: 'ignore' })
  return { ...serverOf(t, launch, () => eventually(() => accepts(port))), port }
}

export interface ToneSender {
  /** Seconds since tone 0 that ffmpeg has sent. On a busy machine they lag behind the clock. */
  readonly sent: () => number
  /** Seconds since tone 0 of the last start of ffmpeg. */
  readonly begun: () => number
}

/** Sends numbered tones in real time with ffmpeg to `output`. Restarts ffmpeg until the test ends. */
export const sendTones = (t: ExecutionContext, epoch: number, output: ReadonlyArray<string>, cwd = '/'): ToneSender => {
  let isStopped = false
  let child: ChildProcess | undefined
  let [begun, sent] = [0, 0]
  const send = (): void => {
    if (isStopped) return
    begun = (Date.now() - epoch) / 1000
    const progress = ['-v', 'error', '-progress', 'pipe:1', '-stats_period', '0.1']
    const input = ['-re', '-f', 'lavfi', '-i', toneExpression(begun)]
    const args = [...progress, ...input, '-c:a', 'aac', '-b:a', '64k', ...output]
    child = spawn(FFMPEG, args, { stdio: ['ignore', 'pipe', 'ignore'], cwd })
    child.stdout?.on('data', (bytes: Buffer) => {
      const microseconds = [...bytes.toString().matchAll(/^out_time_us=(\d+)$/gm)].at(-1)?.[1]
      if (microseconds !== undefined) sent = begun + Number(microseconds) / 1e6
    })
    // ffmpeg ends when the server is unavailable. The server may start again.
    child.once('exit', () => setTimeout(send, 100))
  }
  send()
  t.teardown(() => {
    isStopped = true
    child?.kill('SIGKILL')
  })
  return { sent: () => sent, begun: () => begun }
}

/** Makes an MP4 video with the demo's sample as its sound. The index is at the end of the file. */
export const makeVideo = async (path: string, seconds: number): Promise<void> => {
  const picture = ['-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=10']
  const codecs = ['-c:v', 'mpeg4', '-b:v', '500k', '-c:a', 'aac']
  await run(FFMPEG, ['-v', 'error', '-y', ...picture, '-i', SAMPLE, '-t', String(seconds), ...codecs, path])
}

/** Waits until the file exists and is not empty. */
export const untilWritten = (path: string): Promise<unknown> =>
  eventually(async () => assert.ok((await readFile(path)).length > 0), { timeoutMs: 60_000 })
