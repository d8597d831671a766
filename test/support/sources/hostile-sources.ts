import { createSocket } from 'node:dgram'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'

/** A host that must never be contacted. It records every contact. */
export interface ForbiddenHost {
  readonly host: string
  readonly port: number
  readonly contacts: ReadonlyArray<string>
}

/** Listens on TCP and UDP of a loopback address that no test allows. */
export const listenForbidden = async (t: ExecutionContext, host: string): Promise<ForbiddenHost> => {
  const contacts: string[] = []
  const server = createServer((socket) => {
    contacts.push('tcp')
    socket.on('error', () => undefined)
    socket.once('data', (bytes) => contacts.push(bytes.toString('latin1').split('\r\n')[0] ?? ''))
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  const datagrams = createSocket('udp4').on('message', () => contacts.push('udp'))
  await new Promise<void>((resolve) => datagrams.bind(port, host, resolve))
  t.teardown(() => {
    server.close()
    datagrams.close()
  })
  return { host, port, contacts }
}

const media = (lines: string): string =>
  `#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n${lines}\n#EXT-X-ENDLIST\n`
const keyed = (uri: string): string => media(`#EXT-X-KEY:METHOD=AES-128,URI="${uri}",IV=0x01\n#EXTINF:2,\nok.ts`)
const mapped = (uri: string): string => media(`#EXT-X-MAP:URI="${uri}"\n#EXTINF:2,\nok.m4s`)
const variant = (uri: string): string => `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${uri}\n`
const rendition = (uri: string): string =>
  `#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",DEFAULT=YES,URI="${uri}"\n` +
  '#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"\nplain.m3u8\n'
/** The first variant is missing, so the puller tries the hostile one. */
const backup = (uri: string): string =>
  `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmissing.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${uri}\n`
const variable = (uri: string): string =>
  media(`#EXT-X-DEFINE:NAME="a",VALUE="${uri}"\n#EXTINF:2,\n{$a}`)
const station = (uri: string): string => `#EXTM3U\n#EXTINF:-1,Radio\n${uri}\n`
const pls = (uri: string): string => `[playlist]\nFile1=${uri}\nNumberOfEntries=1\n`
/** The second segment is hostile. The first segment is playable, so the puller reaches the second segment. */
const second = (uri: string): string => media(`#EXTINF:2,\nok.ts\n#EXTINF:2,\n${uri}`)

/** Spellings of URLs that must not be reached. Each is tried at every position of a playlist. */
const hostileUris = (host: string, port: number): Readonly<Record<string, string>> => {
  const authority = `${host}:${port}`
  return {
    http: `http://${authority}/a.ts`, https: `https://${authority}/a.ts`, tcp: `tcp://${authority}/a.ts`,
    tcpQuery: `tcp://${authority}?x=a.ts`,
    httpproxy: `httpproxy://${authority}/x.ts`,
    tls: `tls://${authority}/a.ts`, file: 'file:///etc/passwd', fileTs: 'file:///etc/passwd.ts',
    absolute: '/etc/passwd',
    concat: `concat:http://${authority}/a.ts|http://${authority}/b.ts`,
    subfile: `subfile,,start,0,end,100,,:http://${authority}/a.ts`,
    gopher: `gopher://${authority}/1a.ts`,
    udp: `udp://${authority}/a.ts`, rtp: `rtp://${authority}/a.ts`, rtmp: `rtmp://${authority}/live/a.ts`,
    rtsp: `rtsp://${authority}/a.ts`,
    ftp: `ftp://${authority}/a.ts`,
    cryptoPlus: `crypto+http://${authority}/a.ts`, crypto: `crypto:http://${authority}/a.ts`,
    data: 'data:video/mp2t;base64,R0FB',
    async: `async:http://${authority}/a.ts`,
    cache: `cache:http://${authority}/a.ts`, mmsh: `mmsh://${authority}/a.ts`, icecast: `icecast://${authority}/a.ts`,
    ipfs: 'ipfs://a.ts',
    hlsPlus: `hls+http://${authority}/a.m3u8`,
    srt: `srt://${authority}?a.ts`, schemeless: `//${authority}/a.ts`, decimal: `http://2130706435:${port}/a.ts`,
    hex: `http://0x7f000003:${port}/a.ts`,
    mapped: `http://[::ffff:127.0.0.3]:${port}/a.ts`, dotted: `http://127.0.0.3.:${port}/a.ts`,
    userinfo: `http://127.0.0.2@${authority}/a.ts`,
    redirected: '/redirect/http', nested: '/second/http',
  }
}

/** The paths of `serveRtsp` that try to redirect or break the client. */
export const hostileRtspPaths = ({ host, port }: ForbiddenHost): ReadonlyArray<string> => {
  const locations = [
    ...Object.values(hostileUris(host, port)),
    `rtsps://${host}:${port}/x`, `rtsp://2130706435:${port}/x`, `rtsp://0x7f.3:${port}/x`,
    `rtsp://[::ffff:7f00:3]:${port}/x`, `rtsp://127.0.0.3.:${port}/x`, `rtsp://127.0.0.2@${host}:${port}/x`,
    `rtspu://${host}:${port}/x`,
  ]
  return [
    ...['options', 'describe', 'setup', 'play'].map((method) => `redirect-${method}`),
    ...locations.map((location) => `redirect-to-x?${encodeURIComponent(location)}`),
    'loop', 'smuggle', 'long-head', 'long-body', 'html', 'video', 'speex', 'encrypted', 'control', 'base',
    'bad-control', 'udp', 'multicast', 'server-request',
  ]
}

/** The paths of `serveRtmp` that try to redirect or break the client. */
export const HOSTILE_RTMP_PATHS: ReadonlyArray<string> = [
  ...['redirect', 'deep', 'cut', 'unknown', 'html'].map((app) => `${app}/x`),
  ...['moved', 'missing', 'unpublished', 'huge', 'many', 'wide', 'short'].map((stream) => `live/${stream}`),
]

/** The start of an MP4 file with its index at the end, so a reader requests a range. */
const LATE_INDEX = Buffer.from('\0\0\0\x08ftyp\0\0\0\x10mdat<<sound>and more', 'latin1')

export interface HostileSite {
  /** The hostile paths. */
  readonly paths: ReadonlyArray<string>
  readonly listener: RequestListener
}

/** A web site whose answers try to make its reader contact the forbidden host. `segment`: a playable segment. */
export const hostileSite = ({ host, port }: ForbiddenHost, segment: Buffer): HostileSite => {
  const uris = hostileUris(host, port)
  const base = `http://${host}:${port}`
  const only = (uri: string): string => media(`#EXTINF:2,\n${uri}`)
  const playlists: Readonly<Record<string, (uri: string) => string>> =
    { second, only, key: keyed, map: mapped, variant, rendition, backup, variable, station, pls }
  const files: Readonly<Record<string, string>> = {
    'a.mpd': [
      '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S"',
      ' profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="audio/mp4">',
      `<Representation id="1" bandwidth="1000" codecs="mp4a.40.2"><BaseURL>${base}/a.mp4</BaseURL></Representation>`,
      '</AdaptationSet></Period></MPD>',
    ].join(''),
    'a.ffconcat': `ffconcat version 1.0\nfile '${base}/a.ts'\n`,
    'a.sdp': `v=0\r\no=- 0 0 IN IP4 ${host}\r\ns=x\r\nc=IN IP4 ${host}\r\nt=0 0\r\n` +
      `m=audio ${port} RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n`,
    'a.xspf': '<?xml version="1.0"?><playlist><trackList><track>' +
      `<location>${base}/a.ts</location></track></trackList></playlist>`,
    'a.pls': `[playlist]\nFile1=${base}/a.ts\nNumberOfEntries=1\n`,
    'a.late.m3u8': ` \n#EXTM3U\n#EXTINF:2,\n${base}/a.ts\n`,
  }
  const send = (response: ServerResponse, body: string | Buffer): void => {
    response.writeHead(200, { 'content-length': Buffer.byteLength(body) }).end(body)
  }
  /** First answers that cause a second request, which is redirected. They return false for the second request. */
  const bait: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => boolean>> = {
    range: (request, response) => {
      if (request.headers.range !== undefined) return false
      send(response, LATE_INDEX)
      return true
    },
    digest: (request, response) => {
      if (request.headers.authorization !== undefined) return false
      response.writeHead(401, { 'www-authenticate': 'Digest realm="r", nonce="n", qop="auth"' }).end()
      return true
    },
  }
  const redirectKinds = new Set(['redirect', ...Object.keys(bait)])
  const redirectTo = (kind: string, name: string, status: string): string | undefined =>
    redirectKinds.has(kind) && /^\d{3}$/.test(status) ? uris[name] : undefined
  return {
    paths: [
      ...Object.keys(playlists).flatMap((position) => Object.keys(uris).map((name) => `${position}/${name}`)),
      ...[...redirectKinds].flatMap((kind) => Object.keys(uris).map((name) => `${kind}/${name}/302`)),
      ...[301, 303, 307, 308].flatMap((status) => ['http', 'rtmp', 'file'].map((name) => `redirect/${name}/${status}`)),
      ...Object.keys(files),
    ],
    listener: (request, response) => {
      const path = (request.url ?? '').slice(1)
      const [kind = '', name = '', status = '302'] = path.split('/')
      const [uri, location] = [uris[name], redirectTo(kind, name, status)]
      if (kind.startsWith('ok.') || name.startsWith('ok.')) send(response, segment)
      else if (name === 'plain.m3u8') send(response, media('#EXTINF:2,\nok.ts'))
      else if (files[kind] !== undefined) send(response, files[kind])
      else if (bait[kind]?.(request, response) === true) return
      else if (location !== undefined) response.writeHead(Number(status), { location }).end()
      else if (playlists[kind] !== undefined && uri !== undefined) send(response, playlists[kind](uri))
      else response.writeHead(404).end()
    },
  }
}
