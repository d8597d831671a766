import type { Mutant } from './mutant.ts'

const OFFERS = 'test/unit/application/admission/offers.test.ts'
const LOST = 'test/unit/application/admission/lost-workers.test.ts'
const GRACE = 'test/unit/application/lives/takeover-grace.test.ts'
const DRAIN = 'test/unit/application/sessions/drain-worker.test.ts'
const RECONCILER = 'test/unit/application/lives/reconciler.test.ts'

/** Who is given a live among many processes, and what becomes of it when its worker is lost, wakes or stops. */
export const placementMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/admission/offers.ts',
    before: "state === 'up' && logAnswers",
    after: "state === 'up' || logAnswers",
    rows: ['candidates are up, reach the log'], test: OFFERS,
  },
  {
    file: 'application/admission/offers.ts',
    before: 'const rank = neededLanes > freeLanes ? FALLS_BEHIND : ',
    after: 'const rank = neededLanes > Infinity * freeLanes ? FALLS_BEHIND : ',
    rows: ['unless it could not keep up any more'], test: OFFERS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: '(worker) => -(lanesOf.get(worker) ?? 0)',
    after: '(worker) => (lanesOf.has(worker) ? 0 : 1)',
    rows: ['of workers alike the one with most free compute'], test: OFFERS,
  },
  {
    file: 'application/admission/candidates.ts',
    before: '{ ...member, offers: own.offers(), lives: own.lives() }',
    after: '{ ...member, lives: own.lives() }',
    rows: ['a process knows itself by its present figures'], test: OFFERS,
  },
  {
    file: 'application/admission/announce-worker.ts',
    before: 'return hasDrifted(share, model.share) ? model : { ...model, share }',
    after: 'return hasDrifted(share, model.share) || share > 0 ? model : { ...model, share }',
    rows: ['again when something of note has changed'], test: OFFERS,
  },
  {
    file: 'application/catalogue/offered-catalogue.ts',
    before: '.filter((code) => able.every(({ languages }) => languages.includes(code)))',
    after: '.filter((code) => able.some(({ languages }) => languages.includes(code)))',
    rows: ['what workers offer together'], test: OFFERS,
  },
  {
    file: 'application/catalogue/offered-catalogue.ts',
    before: 'if (now - seen > OFFERS_KEPT_MS)',
    after: 'if (now > seen)',
    rows: ['what workers offer together'], test: OFFERS,
  },
  {
    file: 'application/admission/watch-workers.ts',
    before: 'const isSure = unseen().length > 0 && (await members.ownershipProblem()) === null',
    after: 'const isSure = unseen().length > 0',
    rows: ['unless it is us who see nobody'], test: LOST,
  },
  {
    file: 'application/admission/watch-workers.ts',
    before: 'const CHECKS_BEFORE_REMOVAL = 4',
    after: 'const CHECKS_BEFORE_REMOVAL = 3',
    rows: ['a worker that no member is leaves after some looks'], test: LOST,
  },
  {
    file: 'application/admission/watch-workers.ts',
    before: '((missed.get(nameOf(worker)) ?? 0) % CHECKS_BEFORE_REMOVAL) + 1',
    after: 'CHECKS_BEFORE_REMOVAL',
    rows: ['a worker that no member is leaves after some looks'], test: LOST,
  },
  {
    file: 'application/admission/watch-workers.ts',
    before: 'members.onChange(() => track(place())),',
    after: 'members.onChange(() => undefined),',
    rows: ['placed as soon as somebody offers it'], test: LOST,
  },
  {
    file: 'application/admission/send-with-retries.ts',
    before: 'if (E.isRight(sent)) return true',
    after: 'if (E.isRight(sent) || attempt === 1) return true',
    rows: ['for as long as the log does not answer'], test: LOST,
  },
  {
    file: 'application/admission/rejoin-worker.ts',
    before: 'if ((await members.ownershipProblem()) !== null) {',
    after: 'if ((await members.ownershipProblem()) !== null && attempt > 0) {',
    rows: ['a worker that is lost is given up'], test: LOST,
  },
  {
    file: 'application/sessions/run-lives.ts',
    before: 'if (E.isRight(refreshed) || isUnreadable(refreshed.left)) break',
    after: 'if (E.isRight(refreshed) || attempt === 0) break',
    rows: ['although the admissions cannot be read'], test: LOST,
  },
  {
    file: 'application/sessions/settle-live.ts',
    before: 'if (graceMs > 0) {',
    after: 'if (graceMs < 0) {',
    rows: ['loads its model at once, waits for the sender'], test: GRACE,
  },
  {
    file: 'application/sessions/live-sessions.ts',
    before: 'if (closing.signal.aborted || lives.has(liveId)) return\n      const running = run(liveId, live, point)\n      running.configure(live.config)',
    after: 'if (closing.signal.aborted) return\n      const running = run(liveId, live, point)',
    rows: ['loads its model at once, waits for the sender'], test: GRACE,
  },
  {
    file: 'application/lives/policies/reconcile-lives.ts',
    before: 'watches.waiting.keepOnly((liveId) => workers.get(liveId) === null)',
    after: 'watches.waiting.keepOnly((liveId) => workers.has(liveId))',
    rows: ['begins to wait anew when it lost another worker'], test: RECONCILER,
  },
  {
    file: 'application/lives/policies/reconcile-lives.ts',
    before: 'const SLOW_ORPHAN_AFTER_MS = 60_000',
    after: 'const SLOW_ORPHAN_AFTER_MS = 10_000',
    rows: ['an admission of a process that is there'], test: RECONCILER,
  },
  {
    file: 'application/lives/policies/creator-state.ts',
    before: "if (isAlone) return 'gone'",
    after: "if (isAlone) return 'unseen'",
    rows: ['a process knows who of the creators is there'], test: RECONCILER,
  },
  {
    file: 'application/sessions/runs/drain-worker.ts',
    before: 'if (hasOtherWorkers()) await sendCommand',
    after: 'await sendCommand',
    rows: ['alone it says nothing to the log'], test: DRAIN,
  },
  {
    file: 'application/sessions/runs/drain-worker.ts',
    before: 'await atMost(timers, HAND_OVER_MS, sessions.runs.finishTranscribing(held.liveId, HAND_OVER_MS))',
    after: 'await atMost(timers, HAND_OVER_MS, Promise.resolve())',
    rows: ['each live speaks out and goes on at another worker'], test: DRAIN,
  },
  {
    file: 'application/sessions/runs/drain-worker.ts',
    before: 'environment.monotonic() >= deadline',
    after: 'environment.monotonic() >= 0',
    rows: ['what no other worker can run stays until DRAIN_TIMEOUT'], test: DRAIN,
  },
  {
    file: 'application/sessions/runs/drain-worker.ts',
    before: 'if (drainTimeout > 0) await handOverAll()',
    after: 'await handOverAll()',
    rows: ['DRAIN_TIMEOUT=0 waits for nothing'], test: DRAIN,
  },
  {
    file: 'application/sessions/runs/drain-worker.ts',
    before: 'if (E.isLeft(decided)) return false',
    after: 'if (E.isLeft(decided)) return true',
    rows: ['what no other worker can run stays'], test: DRAIN,
  },
]
