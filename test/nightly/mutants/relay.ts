import type { Mutant } from './mutant.ts'

const PROPERTY = 'test/simulation/relay/relay-property.test.ts'
const RELAY = 'test/unit/relay/relay.test.ts'
const UNAVAILABLE_LOG = 'test/unit/relay/unavailable-log.test.ts'
const RECONNECTING_LINK = 'test/unit/relay/reconnecting-link.test.ts'
const SERVE_LINKS = 'test/unit/relay/serve-links.test.ts'
const UNREACHABLE = 'test/unit/relay/unreachable.test.ts'
const MOVED_OFF =
  'a session whose sender is local is moved after its worker was unreachable for 8 s'
const NO_MOVE = 'no move is requested for a session with only listeners, or when its worker is reachable again'
const RECEIVED_ONCE = 'each listener receives all finals once and in order'

/** Sessions whose sockets and workers are in different processes. */
export const relayMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/sessions/relay/sent-finals.ts',
    before: 'termOf(frame) > lastPastTerm',
    after: 'termOf(frame) > Infinity * (lastPastTerm + 1)',
    rows: ['a late translation by the next worker arrives, although the log holds nothing before it'], test: RELAY,
  },
  {
    file: 'application/sessions/relay/sent-finals.ts',
    before: 'isPastOver = isSent',
    after: 'isPastOver = false',
    rows: ['text that the next worker repeats is sent once, also to listeners that join in between'], test: RELAY,
  },
  {
    file: 'application/sessions/relay/sent-finals.ts',
    before: ' - (MAX_LATE_FINALS - last.length)',
    after: '',
    rows: ['the log is read from far enough back to find late translations of sent text'],
    test: 'test/unit/relay/sent-finals.test.ts',
  },
  {
    file: 'application/sessions/relay/listener-line.ts',
    before: 'joinedTerm === term && finals.some(sentFinals.isKnown)',
    after: 'true',
    rows: [RECEIVED_ONCE], test: PROPERTY,
  },
  {
    file: 'application/lives/queries/stored-finals.ts',
    before: 'const term = termOf({ data })',
    after: 'const term = termOf({ data: {} })',
    rows: ['finals from the log carry their term'],
    test: 'test/unit/application/lives/transcripts.test.ts',
  },
  {
    file: 'application/sessions/relay/listener-line.ts',
    before: 'isReadingPast || held !== null || memory',
    after: 'isReadingPast || memory',
    rows: ['a listener that joins a silent new worker in a log outage receives everything from then on'],
    test: UNAVAILABLE_LOG,
  },
  {
    file: 'application/sessions/relay/listener-line.ts',
    before: '          release()\n          finish(cause)',
    after: '          finish(cause)',
    rows: ['messages of a worker during a log outage reach a listener before the end'], test: UNAVAILABLE_LOG,
  },
  {
    file: 'application/sessions/relay/reconnecting-link.ts',
    before: '    highest = message.term\n',
    after: '    highest = message.term\n    attempt = 0\n',
    rows: ['the delay before a new link grows while messages are unreadable'],
    test: RECONNECTING_LINK,
  },
  {
    file: 'application/sessions/relay/placements.ts',
    before: '.finally(() => { refreshing = null })',
    after: '.then(() => { refreshing = null })',
    rows: ['the placement of a session can be queried again after a failed attempt'], test: RECONNECTING_LINK,
  },
  {
    file: 'application/sessions/relay/listener-line.ts',
    before: 'else if (!sentFinals.has(signal)) send(signal)',
    after: 'else send(signal)',
    rows: [RECEIVED_ONCE], test: PROPERTY,
  },
  {
    file: 'application/sessions/relay/serve-links.ts',
    before: 'if (term === FIRST_TERM) return',
    after: 'if (term >= FIRST_TERM) return',
    rows: ['a worker serves a moved session after its fence, and names the worker of other sessions'],
    test: SERVE_LINKS,
  },
  {
    file: 'interfaces/ws/listeners/hub.ts',
    before: 'if (final !== null && member.sentAhead?.delete(finalTextKey(final)) === true) continue',
    after: '',
    rows: [RECEIVED_ONCE], test: PROPERTY,
  },
  {
    file: 'application/sessions/relay/listener-line.ts',
    before: 'if (isUp && !isErased) cancelEndWait = timers.after(END_WAIT_MS, reportEnd)\n      else reportEnd()',
    after: 'finish(cause)',
    rows: ['the end of a session waits for a silent worker, for at most 2 s'], test: RELAY,
  },
  {
    file: 'application/sessions/relay/serve-links.ts',
    before: 'if (link.buffered() <= MAX_UNREAD_BYTES) return',
    after: 'if (link.buffered() >= 0) return',
    rows: ['a link that accepts no frames is closed, and so is a link of an unknown version'], test: SERVE_LINKS,
  },
  {
    file: 'application/sessions/relay/serve-links.ts',
    before: 'if ((ownTerm(deps, liveId) ?? 0) !== requestedTerm) await admission.refresh()',
    after: '',
    rows: ['a worker that does not know the requested term reads admission first'], test: SERVE_LINKS,
  },
  {
    file: 'application/sessions/relay/reconnecting-link.ts',
    before: ' || message.term < highest',
    after: '',
    rows: ['a worker is ignored when its term is lower than the highest known term'], test: RELAY,
  },
  {
    file: 'application/sessions/relay/move-unreachable.ts',
    before: 'if (recentlyMoved.has(liveId)) return',
    after: '',
    rows: [MOVED_OFF], test: UNREACHABLE,
  },
  {
    file: 'application/sessions/relay/move-unreachable.ts',
    before: 'if (!await isReachable(peer, liveId, placement.term)) continue',
    after: 'await isReachable(peer, liveId, placement.term)',
    rows: ['a process that reaches no worker requests no move'], test: UNREACHABLE,
  },
  {
    file: 'application/sessions/relay/remote-lives.ts',
    before: 'if (used.senders.size > 0) deps.unreachable',
    after: 'deps.unreachable',
    rows: [NO_MOVE], test: UNREACHABLE,
  },
  {
    file: 'application/sessions/relay/remote-lives.ts',
    before: '        stopMissingTimer(used)\n        for',
    after: '        for',
    rows: [NO_MOVE], test: UNREACHABLE,
  },
]
