import type { Mutant } from './mutant.ts'

const WORKERS = 'test/unit/domain/admission-workers.test.ts'
const ADMISSION = 'test/unit/domain/admission.test.ts'
const ACTOR = 'test/unit/application/admission/admission-actor.test.ts'
const UPGRADE = 'test/unit/application/admission/admission-upgrade.test.ts'
const ONCE = 'test/unit/application/lives/create-live-once.test.ts'
const COMPUTE = 'test/unit/domain/admission-compute.test.ts'
const MEASURED = 'test/unit/application/admission/measured-compute.test.ts'
const AUDIT = 'test/unit/application/audit/audit-admission.test.ts'

/** Admission of sessions: workers that join and leave, moves, and repeated creates. */
export const admissionMutants: ReadonlyArray<Mutant> = [
  {
    file: 'domain/admission/placement.ts',
    before: 'return rank === undefined ? a.free > b.free : rank(a.worker) < rank(b.worker)',
    after: 'return a.free > b.free && ranks.length >= 0',
    rows: ['of the candidates with room the one with the lowest rank is chosen'], test: ADMISSION,
  },
  {
    file: 'domain/admission/placement.ts',
    before: '|| moves.length === MOVES_AT_ONCE) continue',
    after: ') continue',
    rows: ['a join moves at most 200 sessions and reports that more remain'], test: WORKERS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: '(room === chosen ? { ...room, free: room.free - vram } : room)',
    after: 'room',
    rows: ['while an older process runs, a restarted worker gets its sessions back one by one, earliest first'],
    test: WORKERS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: '.filter(({ isDraining }) => !isDraining)',
    after: '',
    rows: ['a draining worker keeps its sessions and gets no more'], test: WORKERS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: 'return names !== undefined && (needs ?? []).every((name) => names.has(name))',
    after: 'return names !== undefined && (needs ?? []).some((name) => names.has(name))',
    rows: ['a session goes only to a worker with its model and translators, and waits when there is none'],
    test: WORKERS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: 'const able = rooms.filter((room) => canRun(offering, room.worker, needs))',
    after: 'const able = needs === offering ? [] : rooms',
    rows: ['a session goes only to a worker with its model and translators, and waits when there is none'],
    test: WORKERS,
  },
  {
    file: 'domain/admission/state.ts',
    before: `    ...state.open.filter(({ worker }) => worker !== name),
    ...openOf(state, name).map((held) => ({ ...held, worker: null })),
`,
    after: '    ...state.open.map((held) => (held.worker === name ? { ...held, worker: null } : held)),\n',
    rows: ['waiting sessions are placed by the next release or join with room, the longest waiting first'],
    test: WORKERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: 'other.worker === worker && other.incarnation === incarnation',
    after: "other.worker === worker && incarnation !== ''",
    rows: ['sessions of a lost worker move to workers with room; the others wait'], test: WORKERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: 'other.worker === worker ? isEarlier(other) && !restarts : other.incarnation === null',
    after: 'isEarlier(other) && !restarts',
    rows: ['when a worker joins, the worker of an older version leaves and its sessions are taken over'],
    test: WORKERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: "if (held.term !== term) return E.left({ _tag: 'MovedSince', term: held.term })",
    after: '',
    rows: ['a session moves to the requested worker, or to any worker; a request with an old term is refused'],
    test: WORKERS,
  },
  {
    file: 'domain/admission/compute.ts',
    before: 'const EXPECTED_SENDER_MS = 60_000',
    after: 'const EXPECTED_SENDER_MS = Infinity',
    rows: ['a pending session occupies its share for one minute, an active session until its sender leaves'],
    test: COMPUTE,
  },
  {
    file: 'domain/admission/compute.ts',
    before: 'active.has(liveId) || ',
    after: '',
    rows: ['a pending session occupies its share for one minute, an active session until its sender leaves'],
    test: COMPUTE,
  },
  {
    file: 'domain/admission/compute.ts',
    before: 'Math.min(1, Math.max(0, remaining))',
    after: 'Math.max(0, remaining)',
    rows: ['a model that is too slow for a whole lane is refused, no matter how many lanes are free'], test: COMPUTE,
  },
  {
    file: 'domain/admission/decider.ts',
    before: '.filter(({ neededLanes, freeLanes }) => neededLanes <= freeLanes)',
    after: '',
    rows: ['a session is admitted while its share of the lanes is free'], test: COMPUTE,
  },
  {
    file: 'application/pipeline/cadence.ts',
    before: 'const PASS_MULTIPLE = 2',
    after: 'const PASS_MULTIPLE = 0',
    rows: ['the share of a session follows from the duration of a pass'],
    test: MEASURED,
  },
  {
    file: 'application/admission/measured-compute.ts',
    before: '{ usual: SECONDS_PER_MEGABYTE * megabytes, least: 0 }',
    after: '{ usual: 0, least: 0 }',
    rows: ['the cost of an unmeasured model is estimated by'], test: MEASURED,
  },
  {
    file: 'domain/admission/state.ts',
    before: 'return held.needs === null\n',
    after: 'return held.needs !== null\n',
    rows: ['a create is remembered for ten minutes'], test: ADMISSION,
  },
  {
    file: 'domain/admission/state.ts',
    before: 'const MAX_COMMANDS = 4000',
    after: 'const MAX_COMMANDS = Infinity',
    rows: ['only the latest 4,000 create commands are remembered'], test: ADMISSION,
  },
  {
    file: 'domain/admission/snapshot-parts.ts',
    before: 'const place = places.get(name) ?? places.size',
    after: 'const place = places.size',
    rows: ['a snapshot holds the whole state, and stores once what sessions have in common'], test: ADMISSION,
  },
  {
    file: 'domain/idempotency/decider.ts',
    before: 'return current.liveId === before ?',
    after: 'return liveId !== before ?',
    rows: ['when two requests with the same key both created a session, the second is refused'],
    test: 'test/unit/domain/idempotency.test.ts',
  },
  {
    file: 'application/admission/admission-batch.ts',
    before: '    if (events.length >= FULL_BATCH_EVENTS) break\n',
    after: '',
    rows: ['commands that move many sessions fill an append; later commands go into the next one'], test: ACTOR,
  },
  {
    file: 'application/admission/admission-snapshots.ts',
    before: 'return (await newestOf(EARLIER_SNAPSHOT_STREAM)) ?? null',
    after: 'return null',
    rows: ['continues the log of an older version'], test: UPGRADE,
  },
  {
    file: 'application/admission/send-with-retries.ts',
    before: 'while (isPlaceable(state, admission.offering()))',
    after: 'while (isPlaceable === undefined)',
    rows: ['a worker that joins again holds all its earlier'], test: UPGRADE,
  },
  {
    file: 'application/lives/commands/create-live.ts',
    before: 'const recorded = await create.recordLive(liveId)',
    after: 'const recorded = liveId < 0 ? await create.recordLive(liveId) : E.right(undefined)',
    rows: ['a repeated request finds its session by the key for 24 hours'], test: ONCE,
  },
  {
    file: 'application/lives/commands/create-live-once.ts',
    before: 'let before = recorded',
    after: 'let before: number | null = null',
    rows: ['when the session of a key was fenced, a repeat creates another session'], test: ONCE,
  },
  {
    file: 'application/lives/commands/create-live-once.ts',
    before: 'liveId === null ? await livesAdmittedEarlier(commandId) : E.right([liveId])',
    after: 'E.right(liveId === null ? [] : [liveId])',
    rows: ['a key from an older version returns its ended session'], test: UPGRADE,
  },
  {
    file: 'application/audit/admission-rules.ts',
    before: 'if (term !== moved.term + 1) return',
    after: 'if (term <= moved.term) return',
    rows: ['session 1 was moved to term 3 instead of term 2'], test: AUDIT,
  },
  {
    file: 'application/audit/admission-rules.ts',
    before: 'if (worker.isDraining) return',
    after: 'if (worker.vram < 0) return',
    rows: ['got a session while it was draining'], test: AUDIT,
  },
]
