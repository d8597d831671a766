import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { WebSocket } from 'ws'
import type { Json, LiveJson, Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startTestService } from '../../support/service/service.ts'
import { programPath, testWith } from '../../support/running/skip-unless.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const HOST = 'captions.example.org'
const OPENSSL = '/usr/bin/openssl'
const HAPROXY = programPath('haproxy')
const run = promisify(execFile)

/** Returns the sample configuration of a proxy (nginx, caddy, haproxy) from docs/operate/reverse-proxy.md. */
const sample = async (proxy: string): Promise<string> => {
  const found = new RegExp(`\`\`\`${proxy}\\n([^]*?)\`\`\``).exec(
    await readFile('docs/operate/reverse-proxy.md', 'utf8'),
  )?.[1]
  if (found === undefined) throw new Error(`no sample for ${proxy}`)
  return found
}

/** Replaces the addresses and paths of a sample. Throws when one is missing. */
const adapted = (text: string, replacements: Readonly<Record<string, string>>): string =>
  Object.entries(replacements).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`no ${from} in the sample`)
    return result.replaceAll(from, to)
  }, text)

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

interface ProxySettings {
  readonly directory: string
  readonly port: number
  /** Address of the service, `host:port`. */
  readonly upstream: string
  readonly certificate: string
  readonly key: string
}

/**
 * Starts a proxy in front of a service and asserts the answers to clients of the proxy. Returns a listener token and
 * the output of the proxy.
 */
const assertProxyWorks = async (
  t: ExecutionContext,
  start: (settings: ProxySettings) => Promise<ReadonlyArray<string>>,
): Promise<{ readonly token: string; readonly output: () => string }> => {
  const { path: directory, remove } = await temporaryDirectory()
  t.teardown(remove)
  const service = await startTestService(t, { TRUSTED_PROXIES: '127.0.0.1/32', ALLOWED_HOSTS: HOST, RATE_LIMIT: '50' })
  const [certificate, key, port] = [join(directory, 'cert.pem'), join(directory, 'key.pem'), await freePort()]
  await run(OPENSSL, [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    `/CN=${HOST}`,
    '-addext',
    `subjectAltName=DNS:${HOST}`,
    '-keyout',
    key,
    '-out',
    certificate,
  ])
  const [command = '', ...args] = await start({
    directory,
    port,
    upstream: new URL(service.url()).host,
    certificate,
    key,
  })
  const proxy = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: directory, XDG_DATA_HOME: directory },
  })
  let output = ''
  for (const stream of [proxy.stdout, proxy.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exited = once(proxy, 'exit')
  t.teardown(async () => {
    proxy.kill('SIGTERM')
    await exited
  })

  /** Returns the request options of a client with this address. The service trusts only the proxy at 127.0.0.1. */
  const from = (localAddress: string, headers: Readonly<Record<string, string>> = {}) => ({
    localAddress, servername: HOST, rejectUnauthorized: false, headers: { host: `${HOST}:${port}`, ...headers },
  })
  const getJson = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Json> => {
    const call = request(`https://127.0.0.1:${port}${path}`, from('127.0.0.2', headers)).end()
    const [response] = (await once(call, 'response')) as [AsyncIterable<Buffer>]
    const chunks: Array<Buffer> = []
    for await (const chunk of response) chunks.push(chunk)
    return JSON.parse(Buffer.concat(chunks).toString()) as Json
  }
  /** Opens a WebSocket. Resolves with its first message, or with the status code of a refusal. */
  const shakeHands = (path: string, options: ReturnType<typeof from>): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, options)
      socket.once('message', (data: Buffer) => {
        socket.terminate()
        resolve(data.toString())
      })
      socket.once('error', reject)
      socket.once('unexpected-response', (call, { statusCode }) => {
        call.destroy()
        resolve(String(statusCode))
      })
    })

  await eventually(() => getJson('/version')).catch((error: unknown) => {
    throw new Error(`the proxy does not answer: ${output}`, { cause: error })
  })
  const client = await service.user('proxied')
  const live = await client.createLive({ size_text: 28 })
  const { data } = (await getJson(`/lives/${live.id}`, {
    authorization: `Bearer ${client.token}`,
  })) as unknown as Single<LiveJson>
  t.is(data['base_url'], `wss://${HOST}:${port}`)
  t.regex(
    String(data['iframe_html']),
    new RegExp(`^<iframe src="https://${HOST}:${port}/embed/live/${live.id}\\?size_text=28#token=`),
  )
  const good = `${data.relative_path}?token=${data.listener_token}`
  t.like(JSON.parse(await shakeHands(good, from('127.0.0.2'))), {
    type: 'connection',
    role: 'listener',
    session_id: live.id,
  })

  const answers: Array<string> = []
  for (let guess = 0; guess < 31; guess += 1) {
    const forged = `203.0.113.${guess}`
    answers.push(
      await shakeHands(
        '/ws/live/?token=guess',
        from('127.0.0.2', { 'x-forwarded-for': forged, forwarded: `for=${forged}` }),
      ),
    )
  }
  t.deepEqual(
    answers,
    [...Array.from({ length: 30 }, () => '401'), '429'],
    'forged headers do not change the address whose failures are counted',
  )
  t.is(await shakeHands('/ws/live/?token=guess', from('127.0.0.3')), '401', 'another client is not limited')
  t.false(output.includes(data.listener_token))
  return { token: data.listener_token, output: () => output }
}

testWith('/usr/sbin/nginx', OPENSSL)(
  'the nginx sample of the documentation works with TLS and WebSockets',
  async (t) => {
    let log = ''
    const { token } = await assertProxyWorks(t, async ({ directory, port, upstream, certificate, key }) => {
      log = join(directory, 'access.log')
      const server = adapted(await sample('nginx'), {
        '127.0.0.1:8080': upstream,
        'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
        '/etc/ssl/captions.example.org.pem': certificate,
        '/etc/ssl/captions.example.org.key': key,
        '/var/log/nginx/stenolog.log': log,
      })
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${directory}/${name};`)
        .join(' ')
      const file = join(directory, 'nginx.conf')
      const directives = `daemon off; worker_processes 1; pid ${directory}/pid; error_log stderr;`
      await writeFile(file, `${directives}\nevents {}\nhttp { ${temporary}\n${server}}\n`)
      await run('/usr/sbin/nginx', ['-t', '-c', file])
      return ['/usr/sbin/nginx', '-c', file]
    })
    const logged = await readFile(log, 'utf8')
    t.true(logged.includes('"GET /ws/live/'))
    t.false(logged.includes(token) || logged.includes('token='))
  },
)

testWith('/usr/bin/caddy', OPENSSL)(
  'the Caddy sample of the documentation works with TLS and WebSockets',
  async (t) => {
    await assertProxyWorks(t, async ({ directory, port, upstream, certificate, key }) => {
      const site = adapted(await sample('caddy'), {
        'captions.example.org {': `https://${HOST}:${port} {\n    bind 127.0.0.1\n    tls ${certificate} ${key}`,
        '127.0.0.1:8080': upstream,
      })
      const file = join(directory, 'Caddyfile')
      await writeFile(file, `{\n    admin off\n    auto_https disable_redirects\n}\n${site}`)
      return ['/usr/bin/caddy', 'run', '--adapter', 'caddyfile', '--config', file]
    })
  },
)

testWith(HAPROXY, OPENSSL)(
  'the HAProxy sample of the documentation works with TLS and WebSockets, and its check finds the service ready',
  async (t) => {
    const { output } = await assertProxyWorks(t, async ({ directory, port, upstream, certificate, key }) => {
      const both = join(directory, 'both.pem')
      await writeFile(both, `${await readFile(certificate, 'utf8')}${await readFile(key, 'utf8')}`)
      const proxy = adapted(await sample('haproxy'), {
        'bind :443 ': `bind 127.0.0.1:${port} `,
        '/etc/haproxy/captions.example.org.pem': both,
        'option httpchk': 'log stdout format raw local0\n    option log-health-checks\n    option httpchk',
        '127.0.0.1:8080': upstream,
      })
      const file = join(directory, 'haproxy.cfg')
      await writeFile(file, proxy)
      await run(HAPROXY, ['-c', '-f', file])
      return [HAPROXY, '-db', '-f', file]
    })
    await eventually(() => {
      if (!output().includes('Health check')) throw new Error('no check yet')
    })
    t.regex(output(), /^Health check for server stenolog\/stenolog succeeded, .*code: 200/m)
    t.notRegex(output(), /Health check .* failed/)
    t.regex(output(), / GET \/ws\/live\/\d+ 101 /)
  },
)
