import type { Mutant } from './mutant.ts'

const STREAMS = 'test/api/sources/streams.test.ts'
const STREAM_FORMATS = 'test/unit/sources/stream-formats.test.ts'
const ADDRESS_GUARD = 'test/unit/sources/address-guard.test.ts'
const LIVE_SOURCES = 'test/unit/application/sessions/live-sources.test.ts'
const MEDIA_CLOCK = 'test/unit/application/sessions/media-clock.test.ts'
const MEDIA_TIMES = 'test/nightly/sources/media-times.test.ts'
const FOLDER = 'infrastructure/sources'

/** RTMP and RTSP sources. */
export const sourceMutants: ReadonlyArray<Mutant> = [
  {
    file: `${FOLDER}/rtmp/rtmp-session.ts`,
    before: ", 'NetStream.Play.UnpublishNotify'",
    after: '',
    rows: ['S5'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtmp/rtmp-session.ts`,
    before: "if (name === '_error') throw new SourceError('refused')",
    after: '',
    rows: ['S5'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtmp/rtmp-messages.ts`,
    before: 'const MAX_CHUNK_STREAMS = 64',
    after: 'const MAX_CHUNK_STREAMS = 65_600',
    rows: ['S8'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtmp/rtmp-messages.ts`,
    before: 'if (kind < 3) stream.delta = time',
    after: '',
    rows: ['RTMP'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/rtmp/rtmp-messages.ts`,
    before: 'stream.field === EXTENDED ? (await take(4)).readUInt32BE() : stream.field',
    after: 'stream.field',
    rows: ['RTMP'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/rtmp/rtmp-messages.ts`,
    before: 'if (stream.received > 0) return',
    after: '',
    rows: ['RTMP'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/rtmp/rtmp-messages.ts`,
    before: 'chunkSize = Math.max(1, size)',
    after: 'chunkSize = FIRST_CHUNK_SIZE',
    rows: ['RTMP'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/rtmp/pull-rtmp.ts`,
    before: 'const hasInstance = second !== undefined && rest.length > 0',
    after: 'const hasInstance = false',
    rows: ['rtmp'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtmp/pull-rtmp.ts`,
    before: 'stream: stream + url.search }',
    after: 'stream }',
    rows: ['rtmp'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtmp/amf0.ts`,
    before: "if (at + size > bytes.length) throw new SourceError('bad_answer')",
    after: '',
    rows: ['AMF0'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/rtsp/rtp-packets.ts`,
    before: 'HEADER_BYTES + 4 * (flags & 15)',
    after: 'HEADER_BYTES',
    rows: ['RTP'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/rtsp/rtp-packets.ts`,
    before: 'bytes.subarray(begin, bytes.length - padding)',
    after: 'bytes.subarray(begin)',
    rows: ['RTP'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/rtsp/rtp-packets.ts`,
    before: 'if (bytes.readUInt8(at + 1) === BYE) return true',
    after: '',
    rows: ['rtsp'], test: STREAMS,
  },
  {
    file: `${FOLDER}/network/authentication.ts`,
    before: 'return !isRepeated || isStale',
    after: 'return true',
    rows: ['credentials'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/network/authentication.ts`,
    before: "[['sha-256', 'sha256'], ['md5', 'md5']]",
    after: "[['md5', 'md5'], ['sha-256', 'sha256']]",
    rows: ['credentials'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/rtsp/rtsp-connection.ts`,
    before: "if (lengths.size !== 1 || !/^\\d{1,9}$/.test(text)) throw",
    after: "if (!/^\\d{1,9}$/.test(text)) throw",
    rows: ['S5'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtsp/rtsp-connection.ts`,
    before: "if (method === 'REDIRECT' || method === 'TEARDOWN') throw",
    after: "if (method === 'TEARDOWN') throw",
    rows: ['S5'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtsp/rtsp-connection.ts`,
    before: 'const MAX_HEAD_BYTES = 16 * 1024',
    after: 'const MAX_HEAD_BYTES = 16 * 1024 * 1024',
    rows: ['S8'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtsp/rtsp-session.ts`,
    before: '!/^RTP\\/AVPF?\\/TCP/i.test(transport) || ',
    after: '',
    rows: ['S5'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtsp/pull-rtsp.ts`,
    before: "if (url.protocol !== 'rtsp:' && url.protocol !== 'rtsps:') throw new SourceError('scheme_forbidden')",
    after: '',
    rows: ['S5'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtsp/pull-rtsp.ts`,
    before: 'hop <= MAX_REDIRECTS',
    after: 'hop <= 2 * MAX_REDIRECTS',
    rows: ['S5'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtsp/pull-rtsp.ts`,
    before: 'const isFirstServer = url.protocol === first.protocol && url.host === first.host',
    after: 'const isFirstServer = true',
    rows: ['S5', 'rtsp'], test: STREAMS,
  },
  {
    file: `${FOLDER}/rtsp/sdp.ts`,
    before: "lines.includes('a=inactive') || ",
    after: '',
    rows: ['SDP'], test: STREAM_FORMATS,
  },
  {
    file: `${FOLDER}/puller/pull-source.ts`,
    before: 'await (brokeOff && isStream(text) ? reconnecting(pull, signal) : pull())',
    after: 'await pull()',
    rows: ['D56'], test: STREAMS,
  },
  {
    file: 'infrastructure/sources/network/address-guard.ts',
    before: 'isPublic(address) && !isInOwnNetwork(interfaces, address)',
    after: 'isPublic(address)',
    rows: ['addresses of this machine and of its networks are not public, on any port'], test: ADDRESS_GUARD,
  },
  {
    file: 'application/sessions/live-source.ts',
    before: 'options.failed(retry ? UNAVAILABLE : code)',
    after: 'options.failed(code)',
    rows: ['open, closed and silent ports look the same to the owner and differ in the log'], test: LIVE_SOURCES,
  },
  {
    file: 'application/sessions/clock/media-clock.ts',
    before: 'const canInsert = gapDue > TOLERANCE_SECONDS && clock.sinceGap >= MIN_SECONDS_BETWEEN_GAPS',
    after: 'const canInsert = gapDue > TOLERANCE_SECONDS',
    rows: ['a gap soon after another gap is added in full, but only after one second of audio'], test: MEDIA_CLOCK,
  },
  {
    file: 'application/sessions/clock/media-clock.ts',
    before: 'time + length - (owed ?? 0)',
    after: 'time + length',
    rows: ['a gap soon after another gap is added in full, but only after one second of audio'], test: MEDIA_CLOCK,
  },
  {
    file: 'application/sessions/clock/media-clock.ts',
    before: 'difference - WRAP_SECONDS * Math.round(difference / WRAP_SECONDS)',
    after: 'difference',
    rows: ['with any losses audio keeps its place in the recording'], test: MEDIA_CLOCK,
  },
  {
    file: 'application/sessions/clock/media-clock.ts',
    before: 'continuity?.newClock !== true && ',
    after: '',
    rows: ['a discontinuity or an implausible clock gives no gap of its own'], test: MEDIA_CLOCK,
  },
  {
    file: 'application/sessions/clock/media-clock.ts',
    before: ', arrived - arrivals.first - arrivals.received)',
    after: ')',
    rows: ['audio that arrives in a burst is not missing, and repeated audio reduces the next gap'], test: MEDIA_CLOCK,
  },
  {
    file: 'application/sessions/clock/live-clock.ts',
    before: 'given + silence.length / 2',
    after: 'given + silence.length',
    rows: ['the session clock is ahead of the pipeline clock by the loss, from the middle of the silence'],
    test: MEDIA_CLOCK,
  },
  {
    file: 'application/sessions/live-source.ts',
    before: 'options.audio(samples, lostBefore(samples, time))',
    after: 'options.audio(samples, 0)',
    rows: ['D61'], test: 'test/unit/application/sessions/lost-audio.test.ts',
  },
  {
    file: `${FOLDER}/http/hls-segments.ts`,
    before: 'missingSeconds = missingSeconds === null ? null : missingSeconds + duration',
    after: '',
    rows: ['a discontinuity is no gap'], test: MEDIA_TIMES,
  },
  {
    file: `${FOLDER}/rtsp/rtp-payloads.ts`,
    before: '(timestamp - (last ?? timestamp)) | 0',
    after: 'timestamp - (last ?? timestamp)',
    rows: ['rtsp: lost pcmu packets'], test: MEDIA_TIMES,
  },
]
