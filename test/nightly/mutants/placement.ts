import type { Mutant } from './mutant.ts'

const OFFERS = 'test/unit/application/admission/offers.test.ts'
const LOST = 'test/unit/application/admission/lost-workers.test.ts'
const GRACE = 'test/unit/application/lives/takeover-grace.test.ts'
const DRAIN = 'test/unit/application/sessions/drain-worker.test.ts'
const RECONCILER = 'test/unit/application/lives/reconciler.test.ts'

/** The choice of a worker for a session, and sessions of a worker that is lost, wakes or stops. */
export const placementMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/admission/offers.ts',
    before: "state === 'up' && logAnswers",
    after: "state === 'up' || logAnswers",
    rows: ['a candidate is running, reaches the log, and has the model and every translator'], test: OFFERS,
  },
  {
    file: 'application/admission/offers.ts',
    before: 'const rank = neededLanes > freeLanes ? FALLS_BEHIND : ',
    after: 'const rank = neededLanes > Infinity * freeLanes ? FALLS_BEHIND : ',
    rows: ['a worker that has already loaded the model comes first, unless it is overloaded'], test: OFFERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: '(worker) => -(lanesOf.get(worker) ?? 0)',
    after: '(worker) => (lanesOf.has(worker) ? 0 : 1)',
    rows: ['of workers with equal rank the one with most free compute gets the session'],
    test: OFFERS,
  },
  {
    file: 'application/admission/candidates.ts',
    before: '{ ...member, offers: own.offers(), lives: own.lives() }',
    after: '{ ...member, lives: own.lives() }',
    rows: ['a process uses its own current figures instead of its announcement'], test: OFFERS,
  },
  {
    file: 'application/admission/announce-worker.ts',
    before: 'return hasDrifted(share, model.share) ? model : { ...model, share }',
    after: 'return hasDrifted(share, model.share) || share > 0 ? model : { ...model, share }',
    rows: ['a worker announces itself immediately, and again after every notable change'], test: OFFERS,
  },
  {
    file: 'application/catalogue/offered-catalogue.ts',
    before: '.filter((code) => able.every(({ languages }) => languages.includes(code)))',
    after: '.filter((code) => able.some(({ languages }) => languages.includes(code)))',
    rows: ['a process without engines lists the models of workers seen within ten minutes'], test: OFFERS,
  },
  {
    file: 'application/catalogue/offered-catalogue.ts',
    before: 'if (now - seen > OFFERS_KEPT_MS)',
    after: 'if (now > seen)',
    rows: ['a process without engines lists the models of workers seen within ten minutes'], test: OFFERS,
  },
  {
    file: 'application/admission/watch-workers.ts',
    before: 'const isSure = unseen().length > 0 && (await members.ownershipProblem()) === null',
    after: 'const isSure = unseen().length > 0',
    rows: ['a worker without a member entry leaves after several'],
    test: LOST,
  },
  {
    file: 'application/admission/watch-workers.ts',
    before: 'const CHECKS_BEFORE_REMOVAL = 4',
    after: 'const CHECKS_BEFORE_REMOVAL = 3',
    rows: ['a worker without a member entry leaves after several'],
    test: LOST,
  },
  {
    file: 'application/admission/watch-workers.ts',
    before: '((missed.get(nameOf(worker)) ?? 0) % CHECKS_BEFORE_REMOVAL) + 1',
    after: 'CHECKS_BEFORE_REMOVAL',
    rows: ['a worker without a member entry leaves after several'],
    test: LOST,
  },
  {
    file: 'application/admission/watch-workers.ts',
    before: 'members.onChange(() => track(place())),',
    after: 'members.onChange(() => undefined),',
    rows: ['a session whose model no worker has waits until a worker offers the model'], test: LOST,
  },
  {
    file: 'application/admission/send-with-retries.ts',
    before: 'if (E.isRight(sent)) {',
    after: 'if (E.isRight(sent) || attempt === 1) {',
    rows: ['a process that learns of a lost worker retries until the log answers'], test: LOST,
  },
  {
    file: 'application/admission/rejoin-worker.ts',
    before: 'if ((await members.ownershipProblem()) !== null) {',
    after: 'if ((await members.ownershipProblem()) !== null && attempt > 0) {',
    rows: ['a lost worker is removed by any process, its sessions move, and it drops them when it returns'], test: LOST,
  },
  {
    file: 'application/sessions/run-lives.ts',
    before: 'if (E.isRight(refreshed) || isUnreadable(refreshed.left)) break',
    after: 'if (E.isRight(refreshed) || attempt === 0) break',
    rows: ['a worker drops sessions it lost even when admissions are unreadable'], test: LOST,
  },
  {
    file: 'application/sessions/settle-live.ts',
    before: 'if (graceMs > 0) {',
    after: 'if (graceMs < 0) {',
    rows: ['a taken-over session loads its model immediately, waits for its sender and continues'], test: GRACE,
  },
  {
    file: 'application/sessions/session-machine.ts',
    before: 'then(openPipeline(state), (open) => waitFor(open, ms, end, null))',
    after: 'waitFor(state, ms, end, null)',
    rows: ['a taken-over session loads its model immediately, waits for its sender and continues'], test: GRACE,
  },
  {
    file: 'application/lives/policies/reconciler.ts',
    before: 'watches.waiting.keepOnly((liveId) => workers.get(liveId) === null)',
    after: 'watches.waiting.keepOnly((liveId) => workers.has(liveId))',
    rows: ['a session without a worker waits for the takeover grace'],
    test: RECONCILER,
  },
  {
    file: 'application/lives/policies/reconciler.ts',
    before: 'const SLOW_ORPHAN_AFTER_MS = 60_000',
    after: 'const SLOW_ORPHAN_AFTER_MS = 10_000',
    rows: ['an orphan of a gone process is fenced at once'], test: RECONCILER,
  },
  {
    file: 'application/lives/policies/creator-state.ts',
    before: "if (isAlone) return 'gone'",
    after: "if (isAlone) return 'unseen'",
    rows: ['a process finds the state of a creator among the members'], test: RECONCILER,
  },
  {
    file: 'application/sessions/drain-worker.ts',
    before: 'if (hasOtherWorkers()) await sendCommand',
    after: 'await sendCommand',
    rows: ['a single process writes nothing when it stops'], test: DRAIN,
  },
  {
    file: 'application/sessions/drain-worker.ts',
    before: 'deps.hasSockets ? sessions.runs.finishTranscribing : sessions.runs.finishBeforeMove',
    after: 'sessions.runs.finishBeforeMove',
    rows: ['a stopping process with sockets transcribes all received audio'], test: DRAIN,
  },
  {
    file: 'application/pipeline/live-pipeline.ts',
    before: 'policy.finishNow(limits, isContinued)',
    after: 'policy.finishNow(limits)',
    rows: ['wherever another process continues a session, no word is split, lost or repeated'],
    test: 'test/unit/pipeline/live-pipeline.lifecycle.test.ts',
  },
  {
    file: 'application/sessions/drain-worker.ts',
    before: 'await atMost(timers, HAND_OVER_MS, finishOne(held.liveId, HAND_OVER_MS))',
    after: 'await atMost(timers, HAND_OVER_MS, Promise.resolve())',
    rows: ['at a planned stop each session finishes its audio and moves, and the worker leaves'], test: DRAIN,
  },
  {
    file: 'application/sessions/drain-worker.ts',
    before: 'environment.monotonic() >= deadline',
    after: 'environment.monotonic() >= 0',
    rows: ['sessions without another worker stay until DRAIN_TIMEOUT and then wait for a worker'], test: DRAIN,
  },
  {
    file: 'application/sessions/drain-worker.ts',
    before: 'if (drainTimeout > 0) await handOverAll()',
    after: 'await handOverAll()',
    rows: ['DRAIN_TIMEOUT=0 moves all sessions as the worker leaves'], test: DRAIN,
  },
  {
    file: 'application/sessions/drain-worker.ts',
    before: 'if (E.isLeft(decided)) return false',
    after: 'if (E.isLeft(decided)) return true',
    rows: ['sessions without another worker stay until DRAIN_TIMEOUT and then wait for a worker'], test: DRAIN,
  },
]
