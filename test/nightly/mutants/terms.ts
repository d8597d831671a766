import type { Mutant } from './mutant.ts'

const WORKERS = 'test/simulation/workers/workers.test.ts'
const RUN_LIVES = 'test/unit/application/sessions/run-lives.test.ts'
const STALLED = 'test/simulation/stores/stalled-store.test.ts'
const SESSION_ENDS = 'test/unit/application/sessions/live-sessions-end.test.ts'
const ONE_WRITER = 'with three failing workers only one worker writes in each term'
const RESTARTED = 'a restarted process takes its sessions over in the next term'
const MOVED = 'a worker drops a moved session and does not end it'

/** Fences between two workers of a session: the simulation notices each removed fence. */
export const termMutants: ReadonlyArray<Mutant> = [
  {
    file: 'domain/live/decider.ts',
    before: 'command.term < live.term ? superseded',
    after: 'command.term < 0 ? superseded',
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'domain/live/state.ts',
    before: 'return { ...live, term, worker,',
    after: 'return { ...live, worker,',
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'application/lives/commands/record-segment.ts',
    before: 'if (lastTermOf(newest.right) > term) return',
    after: 'if (lastTermOf(newest.right) < 0) return',
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'application/lives/commands/record-segment.ts',
    before: 'if (term < writes.term) return',
    after: 'if (term < 0) return',
    rows: ['equal segment numbers of two terms are two segments; after a fence no lower term can write'],
    test: 'test/unit/application/sessions/live-lifecycle.test.ts',
  },
  {
    file: 'application/lives/terms/fence-segments.ts',
    before: 'if (lastTerm > fence.term) return',
    after: 'if (lastTerm < 0) return',
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'application/lives/terms/fence-segments.ts',
    before: "newest.right[0]?.revision ?? 'no-stream', [event]",
    after: "'any', [event]",
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'application/lives/terms/take-over.ts',
    before: 'term === FIRST_TERM\n',
    after: 'term > 0\n',
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'application/lives/terms/take-over.ts',
    before: 'segment + 1)',
    after: 'segment)',
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'application/lives/terms/worker.ts',
    before: 'joined.worker === name && joined.incarnation === incarnation)',
    after: 'joined.worker === name)',
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: 'other.worker === worker && other.incarnation === incarnation',
    after: 'other.worker === worker',
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: 'if (held.term !== term) return',
    after: 'if (term < 0) return',
    rows: [ONE_WRITER], test: WORKERS,
  },
  {
    file: 'application/sessions/settle-live.ts',
    before: 'if (term === null || (runs.termOf(liveId) ?? term) < term) runs.drop(liveId)',
    after: 'if (term !== null && (runs.termOf(liveId) ?? term) < term) runs.drop(liveId)',
    rows: [MOVED], test: RUN_LIVES,
  },
  {
    file: 'application/sessions/settle-live.ts',
    before: 'if (state.sender !== null && !deps.runs.hasSender(liveId)) {',
    after: 'if (state.sender !== null && liveId < 0) {',
    rows: ['a sender in the log that this worker does not have is detached'], test: RUN_LIVES,
  },
  {
    file: 'application/sessions/live-sessions.ts',
    before: 'if (admissions.get(liveId) === admission) admissions.delete(liveId)',
    after: '',
    rows: ['one of many senders attaches; a sender that an unavailable store refused blocks no other sender'],
    test: 'test/unit/application/sessions/live-sessions-places.test.ts',
  },
  {
    file: 'application/sessions/run-lives.ts',
    before: 'runs.stop(liveId)',
    after: '',
    rows: ['an admitted session starts when any process creates it, and stops when any process finishes it'],
    test: RUN_LIVES,
  },
  {
    file: 'application/sessions/run-lives.ts',
    before: 'position = message.kind',
    after: 'position = from; void message.kind',
    rows: ['a broken subscription continues at its position'], test: RUN_LIVES,
  },
  {
    file: 'application/sessions/settle-live.ts',
    before: "status === 'active' && !created.autoStart && runs",
    after: "status === 'pending' && !created.autoStart && runs",
    rows: [RESTARTED], test: RUN_LIVES,
  },
  {
    file: 'application/sessions/session-machine.ts',
    before: "['startTimer', 'report', REPORT_UNSTORED_END_MS], ",
    after: '',
    rows: ['a refused end is retried until it is stored; clients learn of it within 2 s'], test: SESSION_ENDS,
  },
  {
    file: 'application/sessions/run-session.ts',
    before: "take('end', { cause, origin })",
    after: "take('end', { cause, origin: null })",
    rows: ['a finish during a store outage ends the session once the store is available'], test: STALLED,
  },
]
