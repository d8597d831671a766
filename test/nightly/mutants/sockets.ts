import type { Mutant } from './mutant.ts'

const CONNECTING = 'test/e2e/service/sockets/connecting.test.ts'
const FRAMES = 'test/e2e/service/sockets/frames.test.ts'
const PROTOCOL = 'test/api/ws/protocol.test.ts'
const LISTENER = 'test/api/ws/listener.test.ts'
const CAPTIONS = 'test/e2e/service/sockets/captions.test.ts'
const PIPELINE = 'test/unit/pipeline/live-pipeline.test.ts'
const CAPTION_SETTINGS = 'test/e2e/service/sockets/caption-settings.test.ts'

/** WebSockets and their messages. */
export const socketMutants: ReadonlyArray<Mutant> = [
  {
    file: 'interfaces/http/socket-path.ts',
    before: '/^(?:\\/(\\d{1,20}))?\\/?$/',
    after: '/^(?:\\/(\\d{1,20}))?$/',
    rows: [128], test: CONNECTING,
  },
  {
    file: 'interfaces/ws/handshakes/handshake.ts',
    before: "valuesIn(query, ['token', 'token_sender'])",
    after: "valuesIn(query, ['token'])",
    rows: [128], test: CONNECTING,
  },
  {
    file: 'interfaces/ws/handshakes/handshake.ts',
    before: 'return values.size > 1 || token.length > MAX_TOKEN_CHARS ?',
    after: 'return token.length > MAX_TOKEN_CHARS ?',
    rows: [129], test: CONNECTING,
  },
  {
    file: 'projections/live-tokens/queries.ts',
    before: 'newestToken(liveId === null ? { hash } : { hash, liveId })',
    after: 'newestToken({ hash })',
    rows: [129, 136], test: CONNECTING,
  },
  {
    file: 'projections/live-tokens/queries.ts',
    before: 'E.map(O.getOrElse(() => token))',
    after: 'E.map(() => token)',
    rows: [136], test: CONNECTING,
  },
  {
    file: 'application/sessions/live-sessions.ts',
    before: "if (runs.hasSender(liveId)) return E.left({ _tag: 'SenderAlreadyConnected' })",
    after: '',
    rows: [132], test: CONNECTING,
  },
  {
    file: 'interfaces/ws/ends.ts',
    before: '  session_finished: 4410,',
    after: '  session_finished: 4404,',
    rows: [135], test: CONNECTING,
  },
  {
    file: 'interfaces/ws/ends.ts',
    before: 'frame: FINISHED, close: 1000,',
    after: 'frame: FINISHED, close: 1001,',
    rows: [93], test: 'test/e2e/service/sessions/finish-by-url.test.ts',
  },
  {
    file: 'interfaces/ws/frames.ts',
    before: "JSON.stringify({ type: 'connection', status: 'connected', role, session_id: liveId, state })",
    after: "JSON.stringify({ type: 'connection', status: 'connected', role, state, session_id: liveId })",
    rows: [131], test: PROTOCOL,
  },
  {
    file: 'interfaces/ws/frames.ts',
    before: "ASR_STARTED = '{\"status\":\"ASR process started\"}'",
    after: "ASR_STARTED = '{\"status\": \"ASR process started\"}'",
    rows: [137], test: FRAMES,
  },
  {
    file: 'interfaces/ws/frames.ts',
    before: 'const members = { type: kind,',
    after: "const members = { type: 'transcription',",
    rows: [151], test: PROTOCOL,
  },
  {
    file: 'interfaces/ws/frames.ts',
    before: 'JSON.stringify(strict ? members : { ...members, segment, final, words })',
    after: 'JSON.stringify(strict ? { ...members, final } : { ...members, segment, final, words })',
    rows: [153], test: LISTENER,
  },
  {
    file: 'interfaces/ws/listeners/hub.ts',
    before: 'if (!deliver(member, frame)) topic',
    after: "if (member.role === 'listener' && !deliver(member, frame)) topic",
    rows: [152], test: CAPTIONS,
  },
  {
    file: 'interfaces/ws/listeners/listener.ts',
    before: 'if (forbiddenFrames > MAX_FORBIDDEN_FRAMES) disconnect',
    after: 'if (forbiddenFrames >= MAX_FORBIDDEN_FRAMES) disconnect',
    rows: [146], test: FRAMES,
  },
  {
    file: 'interfaces/ws/limits.ts',
    before: 'return count > MAX_BAD_FRAMES',
    after: 'return count >= MAX_BAD_FRAMES',
    rows: [147], test: FRAMES,
  },
  {
    file: 'interfaces/ws/protocol.ts',
    before: 'if (bytes.byteLength % 2 !== 0 || bytes.byteLength > MAX_AUDIO_BYTES) return',
    after: 'if (bytes.byteLength > MAX_AUDIO_BYTES) return',
    rows: [149], test: PROTOCOL,
  },
  {
    file: 'interfaces/ws/protocol.ts',
    before: 'export const MAX_AUDIO_BYTES = 10 * SAMPLE_RATE * 2',
    after: 'export const MAX_AUDIO_BYTES = 11 * SAMPLE_RATE * 2',
    rows: [143], test: PROTOCOL,
  },
  {
    file: 'interfaces/ws/protocol.ts',
    before: "  ['FINISH', 'finish'],\n",
    after: '',
    rows: [144], test: FRAMES,
  },
  {
    file: 'interfaces/ws/heartbeat.ts',
    before: 'afterTimeout(timers, remainingMs, lost)',
    after: 'afterTimeout(timers, remainingMs * 2, lost)',
    rows: [100], test: 'test/api/ws/heartbeat.test.ts',
  },
  {
    file: 'interfaces/ws/senders/idle.ts',
    before: 'if (isPaused()) lastFrameAt = monotonic()',
    after: '',
    rows: [105], test: 'test/api/ws/idle.test.ts',
  },
  {
    file: 'application/sessions/session-machine.ts',
    before: "if (phase === 'came') return stay(state, 'config_required')",
    after: '',
    rows: [140], test: FRAMES,
  },
  {
    file: 'application/sessions/session-machine.ts',
    before: "if (facts.isPulled) return stay(state, 'audio_not_expected')",
    after: '',
    rows: [148], test: FRAMES,
  },
  {
    file: 'application/sessions/session-machine.ts',
    before: 'if (!buffersAreOrdered(settings) || ',
    after: 'if (',
    rows: [138], test: FRAMES,
  },
  {
    file: 'application/sessions/session-machine.ts',
    before: ': finishAs(state, reason, CLOSE_LIMIT_MS)',
    after: ': stay(state)',
    rows: [100, 145], test: FRAMES,
  },
  {
    file: 'application/sessions/session-machine.ts',
    before: 'state.received === 0 ? [',
    after: 'state.received !== 0 ? [',
    rows: [99, 140], test: FRAMES,
  },
  {
    file: 'domain/transcript/captions.ts',
    before: 'codePointsOf(text.slice(line.from, word.to)) <= maxChars)',
    after: 'codePointsOf(text.slice(line.from, word.to)) <= maxChars + 1)',
    rows: [157], test: PIPELINE,
  },
  {
    file: 'domain/transcript/captions.ts',
    before: "const MARK = '[.,?!;:",
    after: "const MARK = '[.,!;:",
    rows: [158], test: PIPELINE,
  },
  {
    file: 'application/pipeline/policy/policy-limits.ts',
    before: 'phraseSilence: inSamples(settings.buffer_timeout),',
    after: 'phraseSilence: inSamples(settings.buffer_timeout + 1),',
    rows: [156], test: PIPELINE,
  },
  {
    file: 'application/pipeline/policy/policy-limits.ts',
    before: 'Math.min(settings.max_buffer, windowSeconds - WINDOW_MARGIN_SECONDS)',
    after: 'windowSeconds - WINDOW_MARGIN_SECONDS',
    rows: [156], test: PIPELINE,
  },
  {
    file: 'application/pipeline/policy/policy-limits.ts',
    before: 'phraseSilence: inSamples(settings.buffer_timeout),',
    after: 'phraseSilence: inSamples(1),',
    rows: [156], test: CAPTION_SETTINGS,
  },
  {
    file: 'application/pipeline/policy/policy-limits.ts',
    before: 'maxDelay: inSamples(settings.max_delay),',
    after: 'maxDelay: inSamples(60),',
    rows: [156], test: PIPELINE,
  },
]
