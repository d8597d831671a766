import * as E from 'fp-ts/lib/Either.js'
import { FIRST_TERM, type EndCause } from '../../../domain/live/events.ts'
import type { Caller } from '../../../application/caller.ts'
import type { Unavailable } from '../../../application/refusals.ts'
import { createAdmissionActor, type AdmissionActor } from '../../../application/admission/admission-actor.ts'
import { createLiveOnce, type CreateLiveOnceDeps } from '../../../application/lives/commands/create-live-once.ts'
import { createLive } from '../../../application/lives/commands/create-live.ts'
import type { CreateLiveRequest } from '../../../application/lives/commands/requested-live.ts'
import { deleteLive } from '../../../application/lives/commands/delete-live.ts'
import { finishLive } from '../../../application/lives/commands/finish-live.ts'
import {
  finishLivesByAudioUrl, type FinishLivesByAudioUrlDeps,
} from '../../../application/lives/commands/finish-lives-by-audio-url.ts'
import type { WriteDeps } from '../../../application/log/handle-command.ts'
import type { SourceFacts } from '../../../application/lives/change-live.ts'
import {
  liveLifecycle, type LiveLifecycleDeps, type LiveLifecycle,
} from '../../../application/running/live-lifecycle.ts'
import type { Abilities, Catalogue, Model, TranslationPair } from '../../../application/ports/catalogue.ts'
import type { Documents } from '../../../application/ports/documents.ts'
import type { Environment } from '../../../application/ports/environment.ts'
import { BEGINNING, type EventStore } from '../../../application/ports/event-store.ts'
import type { Projector } from '../../../application/ports/projector.ts'
import type { CreatorStateOf } from '../../../application/lives/policies/creator-state.ts'
import { createReconciler, type ReconcileLivesDeps } from '../../../application/lives/policies/reconciler.ts'
import type { EndByWorker } from '../../../application/lives/ending.ts'
import type { LiveRuns } from '../../../application/running/live-runs.ts'
import { runLives } from '../../../application/running/run-lives.ts'
import type { AdmissionCommand } from '../../../domain/admission/decider.ts'
import type { Candidate } from '../../../domain/admission/placement.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { holderOfToken } from '../../../projections/live-tokens/queries.ts'
import { immediateTimers } from '../doubles/immediate-timers.ts'
import { createMemoryDocuments } from '../doubles/memory/documents.ts'
import { createMemoryEventStore } from '../doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../doubles/memory/keyring.ts'
import { right } from '../tools/right.ts'
import { projectEvents } from '../read-models/specify-projection.ts'
import { createTestCredentials } from '../doubles/credentials.ts'
import { createTestEnvironment } from '../doubles/environment.ts'
import { createStreamStates } from './stream-states.ts'
import { silentLogger } from '../doubles/loggers.ts'
import { modelOf } from '../../../projections/projection.ts'
import { testTokenLookup } from './token-lookup.ts'

const dates = { createdAt: '2026-01-01T00:00:00.000000+00:00', updatedAt: null }

const RICH = { hasWords: true, takesVocabulary: true }
const ENGLISH: Abilities = { languages: ['en'], findsLanguage: false, translates: false, ...RICH }
const BOTH: Abilities = { languages: ['en', 'fr'], findsLanguage: true, translates: true, ...RICH }
const model = (id: number, vram: number): Model =>
  ({ id, name: `m${vram}`, active: true, vram, ...(vram === 2 ? ENGLISH : BOTH), ...dates })

const pair = (id: number, to: string): TranslationPair =>
  ({ id, model: `mt-${to}`, active: true, vram: 1, from: 'en', to, ...dates })

/** Models m1 to m4 of 1 to 4 MB (m2 only English), an inactive model, and pairs en → es and en → de of 1 MB each. */
export const catalogue: Catalogue = {
  models: () => [model(1, 1), model(2, 2), model(3, 3), model(4, 4), { ...model(5, 5), active: false }],
  languages: () => ['en', 'fr'].map((iso, index) => ({ id: index + 1, iso, name: iso, active: true, ...dates })),
  furtherLanguages: () => ['yue'].map((iso) => ({ id: 0, iso, name: iso, active: true, ...dates })),
  translations: () => [pair(1, 'es'), pair(2, 'de')],
}

export const callerOf = (userId: number, changes: Partial<Caller> = {}): Caller =>
  ({ userId, permissions: [], maxSessions: 10, maxTranslations: 5, credential: 'jwt', ...changes })

export const requestOf = (changes: Partial<CreateLiveRequest> = {}): CreateLiveRequest => ({
  model: 'm1',
  language: 'en',
  audioFormat: 'raw',
  audioUrl: null,
  translations: [],
  autoStart: false,
  retention: false,
  config: DEFAULT_ENGINE_SETTINGS,
  display: null,
  listenerToken: null,
  ...changes,
})

const CANDIDATES: ReadonlyArray<Candidate> = [{ worker: 'worker-1', rank: 0 }]

export interface WriteSideOptions extends WriteDeps {
  readonly documents?: Pick<Documents, 'get' | 'page'>
  readonly whenProjected?: Projector['whenProjected']
  readonly endByWorker?: EndByWorker
  readonly candidates?: CreateLiveOnceDeps['candidates']
  readonly isDraining?: () => boolean
  readonly isWorkerKnown?: () => boolean
  /** Replaces the default: a process without a worker in the admission state is gone. */
  readonly creatorStateOf?: CreatorStateOf
  readonly takeoverGrace?: number
}

/** The only worker of this write side. */
export const WORKER = 'worker-1'

/** A worker without pipelines. */
export const NO_RUNS: LiveRuns = {
  all: () => [], termOf: () => null,
  hasSender: () => false,
  audioSeconds: () => null,
  wrongSamples: () => null,
  pull: () => undefined,
  awaitSender: () => undefined,
  finishTranscribing: () => Promise.resolve(),
  finishBeforeMove: () => Promise.resolve(),
  stop: () => undefined,
  ended: () => undefined,
  drop: () => undefined,
}

/** Writes everything in the first leadership term, because no session ever moves to another worker here. */
const inFirstTerm = (lifecycle: LiveLifecycle) => ({
  ...lifecycle,
  /** Admits a sender and records it. Returns its number. */
  attachSender: (liveId: number) => async () => {
    const admitted = await lifecycle.admitSender(liveId)
    return E.isLeft(admitted) ? admitted : await admitted.right.record()
  },
  detachSender: (liveId: number, epoch: number) => lifecycle.detachSender(liveId, { term: FIRST_TERM, epoch }),
  startLive: (liveId: number) => lifecycle.startLive(liveId, FIRST_TERM),
  startSource: (liveId: number, facts: Omit<SourceFacts, 'term'>) =>
    lifecycle.startSource(liveId, { ...facts, term: FIRST_TERM }),
  endLive: (liveId: number, cause: EndCause) => lifecycle.endLive(liveId, { term: FIRST_TERM, cause, origin: null }),
})

const noDocuments: Pick<Documents, 'get' | 'page'> = {
  get: () => { throw new Error('the write side has no read model') },
  page: async () => E.right([]),
}

/** Composes the write side of one process in the same way as the service. */
export const writeSideOf = (options: WriteSideOptions, admission: AdmissionActor) => {
  const credentials = createTestCredentials()
  const documents = options.documents ?? noDocuments
  const deps: CreateLiveOnceDeps &
    LiveLifecycleDeps &
    FinishLivesByAudioUrlDeps &
    Pick<ReconcileLivesDeps, 'creatorStateOf' | 'takeoverGrace'> = {
    states: createStreamStates(options),
    ...options,
    admission,
    catalogue,
    credentials,
    holderOfToken: holderOfToken({ documents }),
    resolveToken: testTokenLookup({ ...options, documents }),
    whenProjected: options.whenProjected ?? (() => Promise.resolve()),
    candidates: options.candidates ?? (() => CANDIDATES),
    pullRefusal: () => null,
    isDraining: options.isDraining ?? (() => false),
    isWorkerKnown: options.isWorkerKnown ?? (() => true),
    limitTokenGuesses: (create) => create,
    worker: { name: WORKER, incarnation: null },
    logger: silentLogger,
    endByWorker: options.endByWorker ?? (() => null),
    creatorStateOf:
      options.creatorStateOf ??
      ((instance) =>
        admission.state().workers.some(({ incarnation }) => incarnation === instance) ? 'unseen' : 'gone'),
    takeoverGrace: options.takeoverGrace ?? 0,
    pendingTimeout: 0,
  }
  return {
    deps,
    admission,
    createLive: createLive(deps),
    createLiveOnce: createLiveOnce(deps),
    lifecycle: inFirstTerm(liveLifecycle(deps)),
    finishLive: finishLive(deps),
    finishLivesByAudioUrl: finishLivesByAudioUrl(deps),
    deleteLive: deleteLive(deps),
    /** Starts a process without running sessions; sessions of the previous process are left to the reconciler. */
    start: async (): Promise<E.Either<Unavailable, void>> => {
      const starting = runLives({ ...deps, runs: NO_RUNS, takeoverGrace: 0, logger: silentLogger })
      const started = await starting.start()
      await starting.stop()
      return E.map(() => undefined)(started)
    },
    /** Runs two rounds of the reconciler, 10 s apart. It treats a create that is still incomplete as abandoned. */
    reconcile: async (): Promise<E.Either<Unavailable, void>> => {
      let now = 0
      const { round } = createReconciler({ ...deps, environment: { ...deps.environment, monotonic: () => now } })
      const first = await round()
      now = 10_000
      return E.isLeft(first) ? first : await round()
    },
  }
}

type Admit = Extract<AdmissionCommand, { readonly type: 'Admit' }>

/** Returns the command that admits a session on `worker-1`. */
export const admitCommand = (
  fields: Pick<Admit, 'commandId' | 'instance'> & Partial<Admit>,
): Admit => ({ type: 'Admit', userId: 1, vram: 1, maxSessions: 1000, needs: ['m1'], candidates: CANDIDATES, ...fields })

/** Lets `worker-1` join with this much GPU memory, in MB. */
export const setCapacity = async (admission: AdmissionActor, environment: Environment, vram: number): Promise<void> => {
  const joining = { worker: WORKER, incarnation: environment.instance, vram, knowsRestart: true }
  const command = { type: 'Join', ...joining } as const
  right(await admission.send({ command, commandId: environment.newId(), correlationId: 'setup', actor: 'service' }))
}

interface SideOptions extends Partial<WriteSideOptions> {
  readonly capacity?: number
  /** False: no worker joins. */
  readonly joins?: false
  readonly storeNow?: () => number
}

/** One process around stores in memory; `project` brings the read models up to date. */
export const createWriteSide = async (options: SideOptions = {}) => {
  const documents = createMemoryDocuments()
  const environment = options.environment ?? createTestEnvironment()
  const memory = createMemoryEventStore(options.storeNow ?? (() => Date.parse(environment.now())))
  right(await documents.ensure(allProjections.map(({ collection }) => collection)))
  const deps = {
    store: memory as EventStore,
    keyring: createMemoryKeyring(),
    environment, documents,
    timers: immediateTimers,
    ...options,
  }
  const admission = await createAdmissionActor({ ...deps, logger: silentLogger })
  if (options.joins !== false) await setCapacity(admission, environment, options.capacity ?? 100)
  const side = writeSideOf(deps, admission)

  const project = async (): Promise<void> => {
    for (const projection of allProjections) {
      const events = memory
        .allEvents()
        .filter(({ stream }) => projection.prefixes.some((prefix) => stream.startsWith(prefix)))
      const before = right(await documents.checkpoint(modelOf(projection))).position
      await projectEvents(
        documents,
        projection,
        events.filter(({ position }) => before === BEGINNING || position > before),
      )
    }
  }
  const typesOf = (stream: string): ReadonlyArray<string> =>
    memory.allEvents().filter((event) => event.stream === stream).map(({ type }) => type)

  return { ...side, store: memory, documents, environment, project, typesOf, log: memory.allEvents }
}
