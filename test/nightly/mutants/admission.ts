import type { Mutant } from './mutant.ts'

const WORKERS = 'test/unit/domain/admission-workers.test.ts'
const ADMISSION = 'test/unit/domain/admission.test.ts'
const ACTOR = 'test/unit/application/admission/admission-actor.test.ts'
const UPGRADE = 'test/unit/application/admission/admission-upgrade.test.ts'
const ONCE = 'test/unit/application/lives/create-live-once.test.ts'
const COMPUTE = 'test/unit/domain/admission-compute.test.ts'
const MEASURED = 'test/unit/application/admission/measured-compute.test.ts'
const AUDIT = 'test/unit/application/audit/audit-admission.test.ts'

/** Who runs a live: workers that join and leave, moves, and what is remembered of creates. */
export const admissionMutants: ReadonlyArray<Mutant> = [
  {
    file: 'domain/admission/placement.ts',
    before: 'return rank === undefined ? a.free > b.free : rank(a.worker) < rank(b.worker)',
    after: 'return a.free > b.free && ranks.length >= 0',
    rows: ['of the candidates the lowest in rank is taken'], test: ADMISSION,
  },
  {
    file: 'domain/admission/placement.ts',
    before: '|| moves.length === MOVES_AT_ONCE) continue',
    after: ') continue',
    rows: ['a join moves 200 lives at a time'], test: WORKERS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: '(room === chosen ? { ...room, free: room.free - vram } : room)',
    after: 'room',
    rows: ['a worker that joins anew takes its lives over'], test: WORKERS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: '.filter(({ isDraining }) => !isDraining)',
    after: '',
    rows: ['a worker that drains keeps what it runs'], test: WORKERS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: 'return names !== undefined && (needs ?? []).every((name) => names.has(name))',
    after: 'return names !== undefined && (needs ?? []).some((name) => names.has(name))',
    rows: ['a live is given only to a worker that offers its model'], test: WORKERS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: 'const able = rooms.filter((room) => canRun(offering, room.worker, needs))',
    after: 'const able = needs === offering ? [] : rooms',
    rows: ['a live is given only to a worker that offers its model'], test: WORKERS,
  },
  {
    file: 'domain/admission/state.ts',
    before: `    ...state.open.filter(({ worker }) => worker !== name),
    ...openOf(state, name).map((held) => ({ ...held, worker: null })),
`,
    after: '    ...state.open.map((held) => (held.worker === name ? { ...held, worker: null } : held)),\n',
    rows: ['who waits is placed by the next release or join'], test: WORKERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: 'other.worker === worker && other.incarnation === incarnation',
    after: "other.worker === worker && incarnation !== ''",
    rows: ['lives of a worker that left go to those with room'], test: WORKERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: 'other.worker === worker ? other.incarnation !== incarnation : other.incarnation === null',
    after: 'other.worker === worker && other.incarnation !== incarnation',
    rows: ['the worker of an older version leaves as soon as one joins'], test: WORKERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: "if (held.term !== term) return E.left({ _tag: 'MovedSince', term: held.term })",
    after: '',
    rows: ['who asks by an old term is refused'], test: WORKERS,
  },
  {
    file: 'domain/admission/compute.ts',
    before: 'const EXPECTED_SENDER_MS = 60_000',
    after: 'const EXPECTED_SENDER_MS = Infinity',
    rows: ['a pending session counts for a minute'], test: COMPUTE,
  },
  {
    file: 'domain/admission/compute.ts',
    before: 'active.has(liveId) || ',
    after: '',
    rows: ['a pending session counts for a minute'], test: COMPUTE,
  },
  {
    file: 'domain/admission/compute.ts',
    before: 'Math.min(1, Math.max(0, left))',
    after: 'Math.max(0, left)',
    rows: ['a model that a whole lane cannot keep up with'], test: COMPUTE,
  },
  {
    file: 'domain/admission/decider.ts',
    before: '.filter(({ neededLanes, freeLanes }) => neededLanes <= freeLanes)',
    after: '',
    rows: ['a session is admitted as long as its part of the lanes is free'], test: COMPUTE,
  },
  {
    file: 'application/pipeline/cadence.ts',
    before: 'const PASS_MULTIPLE = 2',
    after: 'const PASS_MULTIPLE = 0',
    rows: ['a session takes what its passes take at their cadence'], test: MEASURED,
  },
  {
    file: 'application/admission/measured-compute.ts',
    before: '{ usual: SECONDS_PER_MEGABYTE * megabytes, least: 0 }',
    after: '{ usual: 0, least: 0 }',
    rows: ['a model that nobody measured is estimated'], test: MEASURED,
  },
  {
    file: 'domain/admission/state.ts',
    before: 'return held.needs === null\n',
    after: 'return held.needs !== null\n',
    rows: ['a create is remembered for ten minutes of the log'], test: ADMISSION,
  },
  {
    file: 'domain/admission/state.ts',
    before: 'const MAX_COMMANDS = 4000',
    after: 'const MAX_COMMANDS = Infinity',
    rows: ['of a flood of creates the last 4,000 are remembered'], test: ADMISSION,
  },
  {
    file: 'domain/admission/snapshot.ts',
    before: 'const place = places.get(name) ?? places.size',
    after: 'const place = places.size',
    rows: ['a snapshot holds the whole state'], test: ADMISSION,
  },
  {
    file: 'domain/idempotency/decider.ts',
    before: 'return state?.liveId === before\n',
    after: 'return liveId !== before\n',
    rows: ['of two requests with one key that were given lives of their own'],
    test: 'test/unit/domain/idempotency.test.ts',
  },
  {
    file: 'application/admission/admission-actor.ts',
    before: '    if (events.length >= FULL_BATCH_EVENTS) break\n',
    after: '',
    rows: ['Commands that move many lives fill the append'], test: ACTOR,
  },
  {
    file: 'application/admission/admission-snapshots.ts',
    before: 'return (await newestOf(EARLIER_SNAPSHOT_STREAM)) ?? null',
    after: 'return null',
    rows: ['a log of an older version goes on under the name local'], test: UPGRADE,
  },
  {
    file: 'application/admission/send-with-retries.ts',
    before: 'while (E.isRight(sent) && isPlaceable(sent.right, admission.offering()))',
    after: 'while (E.isRight(sent) && isPlaceable === undefined)',
    rows: ['a worker that joins anew has all that it ran'], test: UPGRADE,
  },
  {
    file: 'application/lives/commands/create-live.ts',
    before: 'const recorded = await create.recordLive(liveId)()',
    after: 'const recorded = await (liveId < 0 ? create.recordLive(liveId) : TE.right(undefined))()',
    rows: ['a repeated request finds its live by its key for 24 hours'], test: ONCE,
  },
  {
    file: 'application/lives/commands/create-live-once.ts',
    before: 'let before = first',
    after: 'let before: number | null = null',
    rows: ['a live that came to nothing is made anew under its key'], test: ONCE,
  },
  {
    file: 'application/lives/commands/create-live-once.ts',
    before: 'claimed.liveId === null ? await livesAdmittedEarlier(claimed.commandId) : E.right([claimed.liveId])',
    after: 'E.right(claimed.liveId === null ? [] : [claimed.liveId])',
    rows: ['an ended live of a key that an older version began'], test: UPGRADE,
  },
  {
    file: 'application/audit/admission-rules.ts',
    before: 'if (term !== moved.term + 1) return',
    after: 'if (term <= moved.term) return',
    rows: ['session 1 was moved to term 3 after term 1'], test: AUDIT,
  },
  {
    file: 'application/audit/admission-rules.ts',
    before: 'if (worker.isDraining) return',
    after: 'if (worker.vram < 0) return',
    rows: ['got a session while it was draining'], test: AUDIT,
  },
]
