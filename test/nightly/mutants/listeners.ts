import type { Mutant } from './mutant.ts'

const RESUME = 'test/api/ws/resume.test.ts'
const GRACE = 'test/api/ws/reconnect-grace.test.ts'
const HUB = 'test/api/ws/hub.test.ts'
const SLOW = 'test/api/ws/slow-listener.test.ts'
const EMBED = 'test/e2e/service/interface/embed.test.ts'
const CAPTIONS = 'test/e2e/service/sockets/captions.test.ts'
const DROPPED_FINALS = 'test/api/ws/dropped-finals.test.ts'
const RECENT_FINALS = 'test/unit/application/sessions/recent-finals.test.ts'
const WRITE_QUEUE = 'test/unit/application/sessions/write-queue.test.ts'
const EMBED_PAGE = 'test/e2e/service/interface/embed-page.test.ts'
const EMBED_SCRIPT = 'interfaces/console/embed/embed.ts'
const SHOWN_CAPTIONS = 'interfaces/client/captions.ts'
const SESSIONS = 'application/sessions/session-machine.ts'

/** Late, returning and slow listeners, and the page that shows captions. */
export const listenerMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/sessions/recent-finals.ts',
    before: 'entry.sent && isSelected(entry) ?',
    after: 'isSelected(entry) ?',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'application/sessions/recent-finals.ts',
    before: 'timers.after(READABLE_AFTER_END_MS, () =>',
    after: 'timers.after(READABLE_AFTER_END_MS * 2, () =>',
    rows: ['A4'], test: RESUME,
  },
  {
    file: 'application/sessions/recent-finals.ts',
    before: 'if (erase) forget(liveId)',
    after: 'if (erase && liveId < 0) forget(liveId)',
    rows: [86], test: RESUME,
  },
  {
    file: 'interfaces/ws/handshakes/handshake.ts',
    before: 'integerText(0, MAX_REPLAYED)',
    after: 'integerText(0, Infinity)',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'interfaces/ws/handshakes/handshake.ts',
    before: 'integerText(0, MAX_SEGMENT)',
    after: 'integerText(-Infinity, MAX_SEGMENT)',
    rows: ['D58'], test: RESUME,
  },
  {
    file: SESSIONS,
    before: 'const ms = Math.max(state.facts.grace, atLeastMs)',
    after: 'const ms = atLeastMs',
    rows: ['RECONNECT_GRACE'], test: GRACE,
  },
  {
    file: SESSIONS,
    before: "['startTimer', 'wait', ms]",
    after: "['startTimer', 'wait', ms / 2]",
    rows: ['RECONNECT_GRACE'], test: GRACE,
  },
  {
    file: 'interfaces/compose/parts/worker-sessions.ts',
    before: 'reconnectGrace: settings.reconnectGrace,',
    after: 'reconnectGrace: 0,',
    rows: ['RECONNECT_GRACE'], test: 'test/e2e/service/operation/limits.test.ts',
  },
  {
    file: 'interfaces/ws/listeners/hub.ts',
    before: 'if (connection.buffered() <= MAX_BACKLOG_BYTES) {',
    after: 'if (connection.buffered() < MAX_BACKLOG_BYTES) {',
    rows: ['S31'], test: HUB,
  },
  {
    file: 'interfaces/ws/listeners/hub.ts',
    before: "if (role === 'sender') return true",
    after: '',
    rows: ['S31'], test: HUB,
  },
  {
    file: 'interfaces/ws/listeners/hub.ts',
    before: "connection.end(errorEnding('slow_consumer'))",
    after: 'connection.drop()',
    rows: ['S31'], test: SLOW,
  },
  {
    file: 'interfaces/ws/ends.ts',
    before: '  slow_consumer: 1013,',
    after: '  slow_consumer: 1008,',
    rows: ['S31'], test: SLOW,
  },
  {
    file: 'interfaces/compose/front.ts',
    before: 'strict: settings.compatStrict,',
    after: 'strict: false,',
    rows: [153], test: CAPTIONS,
  },
  {
    file: 'interfaces/http/codecs/embed-snippet.ts',
    before: "sandbox: 'allow-scripts',",
    after: "sandbox: 'allow-scripts allow-same-origin',",
    rows: [74], test: 'test/api/http/answers.test.ts',
  },
  {
    file: 'interfaces/http/app.ts',
    before: 'framePolicy(settings.frameAncestors)',
    after: "framePolicy(['*'])",
    rows: ['S41'], test: 'test/api/http/headers.test.ts',
  },
  {
    file: EMBED_SCRIPT,
    before: 'cursor: () => captions.cursor, ',
    after: '',
    rows: ['B8'], test: EMBED,
  },
  {
    file: EMBED_SCRIPT,
    before: 'element.textContent = text.slice(-MAX_TEXT_CHARS).toWellFormed()',
    after: 'element.innerHTML = text.slice(-MAX_TEXT_CHARS).toWellFormed()',
    rows: ['S39'], test: EMBED_PAGE,
  },
  {
    file: SHOWN_CAPTIONS,
    before: 'isKnown ? captions.lines : ',
    after: '',
    rows: ['B47'], test: 'test/unit/client/captions.test.ts',
  },
  {
    file: EMBED_SCRIPT,
    before: 'next.lines.slice(-MAX_LINES)',
    after: 'next.lines',
    rows: ['S39'], test: EMBED_PAGE,
  },
  {
    file: SHOWN_CAPTIONS,
    before: 'running !== null && frame.start >= running.end ? withLine(captions, running) : captions',
    after: 'captions',
    rows: ['a frame replaces the captions that overlap it'], test: EMBED_PAGE,
  },
  {
    file: 'interfaces/client/live-socket.ts',
    before: 'if (refusals >= MAX_REFUSALS) return',
    after: 'if (refusals > MAX_REFUSALS) return',
    rows: ['S22'], test: EMBED,
  },
  {
    file: 'application/sessions/record-finals.ts',
    before: 'if (isDurable) return added.stored()',
    after: 'if (isDurable !== null) return added.stored()',
    rows: ['a resuming listener gets finals that the store refused from memory, others from'], test: DROPPED_FINALS,
  },
  {
    file: 'application/sessions/recent-finals.ts',
    before: "if (first.state === 'dropped') older.push(first)",
    after: 'if (false) older.push(first)',
    rows: ['a final that the store refused stays in memory without keeping later finals there'], test: RECENT_FINALS,
  },
  {
    file: 'application/sessions/recent-finals.ts',
    before: 'dropped.length - MAX_DROPPED',
    after: '0 * MAX_DROPPED',
    rows: ['the newest ten thousand refused finals are kept, and all finals that still wait'], test: RECENT_FINALS,
  },
  {
    file: 'application/sessions/write-queue.ts',
    before: "return outcome === 'stored'",
    after: 'return true',
    rows: ['a write is durable only when the store accepted it'], test: WRITE_QUEUE,
  },
]
