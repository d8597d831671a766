import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { createHubHttp } from '../../../infrastructure/model-hub/hub-http.ts'
import { pullSource } from '../../../infrastructure/sources/puller/pull-source.ts'
import { sourceErrorOf } from '../../../infrastructure/sources/source-error.ts'
import { serveDns } from '../sources/dns-server.ts'

/**
 * Runs in a network namespace that delivers the public addresses below to itself and whose resolver is 127.0.0.1.
 * Pulls sources whose names change their address, and prints what happened as JSON. The first argument contains the
 * allowed ranges; with `hub` the hub counts as a mirror, which may be anywhere.
 */
const [allow = '', mirror = ''] = process.argv.slice(2)
const [PUBLIC, PUBLIC_V6] = ['93.184.216.34', '2606:2800:220:1::7']
/** On this port only the canary listens. On port 80 the public server listens as well. */
const CANARY_ONLY = 81

/** `N.after` names are public for N lookups. Other names have fixed addresses. */
const FIXED: Readonly<Record<string, ReadonlyArray<string>>> = {
  'loopback.example': ['127.0.0.1'],
  'loopback-v6.example': ['::1'],
  'mapped.example': ['::ffff:7f00:1'],
  'first-public.example': [PUBLIC, '127.0.0.1'],
  'public-v4.example': [PUBLIC, '::1'],
  'public-v6.example': [PUBLIC_V6, '127.0.0.1'],
  'alias.example': ['alias-of-alias.example'],
  'alias-of-alias.example': ['loopback.example'],
}
const dns = await serveDns((name, lookup) => {
  const publicLookups = /\.after-(\d+)\.example$/.exec(name)?.[1] ?? (name === 'huggingface.co' ? '1' : undefined)
  if (publicLookups !== undefined) return lookup < Number(publicLookups) ? [PUBLIC] : ['127.0.0.1']
  return FIXED[name] ?? []
})

let contacts = 0
const canaries = [80, CANARY_ONLY, 443].flatMap((port) => ['127.0.0.1', '::1'].map((host) =>
  createServer((socket) => {
    contacts += 1
    socket.on('error', () => undefined).destroy()
  }).listen(port, host)))

const SEGMENT = Buffer.alloc(188 * 20, 'G')
const PAGES: Readonly<Record<string, string>> = {
  '/master.m3u8': '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000\nmedia.m3u8\n',
  '/media.m3u8': '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts\n#EXTINF:2,\nb.ts\n#EXT-X-ENDLIST\n',
}
let answered = 0
/** Closes every connection, so each request needs a lookup. */
const answer = ({ url = '', headers }: IncomingMessage, response: ServerResponse): void => {
  answered += 1
  if (url === '/redirect') response.writeHead(302, { connection: 'close', location: `http://${headers.host}/again` })
  else response.writeHead(200, { connection: 'close' }).write(PAGES[url] ?? SEGMENT)
  response.end()
}
const origin = createHttpServer(answer).listen(80, PUBLIC)
/** A hub that breaks every connection off. */
const hub = createServer((socket) => {
  answered += 1
  socket.on('error', () => undefined).destroy()
}).listen(443, PUBLIC)

const rules = { allow: allow === '' ? [] : allow.split(','), ownPort: null }
const SINK = {
  bytes: async () => undefined, stretchEnds: async () => undefined, segment: () => undefined,
  targetDuration: () => undefined, awaitAudio: () => undefined,
}
const pull = (url: string): Promise<string> =>
  pullSource({ url, after: null, rules, brokeOff: true }, SINK, AbortSignal.timeout(20_000)).then(
    () => 'complete', (error: unknown) => sourceErrorOf(error).code)

const SOURCES = [
  'http://file.after-1.example/a.ts',
  'http://all.after-9.example/master.m3u8',
  'http://playlist.after-1.example/master.m3u8',
  'http://segment.after-2.example/master.m3u8',
  'http://second-segment.after-3.example/master.m3u8',
  'http://redirect.after-1.example/redirect',
  ...['rtmp', 'rtsp'].map((scheme) => `${scheme}://${scheme}-retry.after-1.example:${CANARY_ONLY}/a/b`),
  ...Object.keys(FIXED).map((name) => `http://${name}:${CANARY_ONLY}/a.ts`),
  `rtmp://public-v4.example:${CANARY_ONLY}/a/b`,
  `rtsp://first-public.example:${CANARY_ONLY}/a/b`,
]

const outcomes: Record<string, readonly [code: string, answered: number, contacts: number]> = {}
const note = async (name: string, run: () => Promise<string>): Promise<void> => {
  const [answeredBefore, contactsBefore] = [answered, contacts]
  const code = await run()
  outcomes[name] = [code, answered - answeredBefore, contacts - contactsBefore]
}
for (const url of SOURCES) await note(url, () => pull(url))
const downloads = createHubHttp(mirror === '' ? null : new URL('https://huggingface.co'))
const download = (): Promise<string> =>
  downloads.json(downloads.url('/api/models/a/b')).then(() => 'complete', (error: unknown) => (error as Error).message)
await note('hub', download)
await note('hub, again', download)

for (const server of [...canaries, origin, hub, dns]) server.close()
console.log(JSON.stringify(outcomes))
