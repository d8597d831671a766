import { readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { User } from '../domain/user/decider.ts'
import { createAdmissionActor } from '../application/admission/admission-actor.ts'
import { createAdminLives, listAllLives } from '../application/lives/queries/list-all-lives.ts'
import { openReferenceSwitches } from '../application/catalogue/reference-switches.ts'
import { createAuthentication, isActive } from '../application/users/queries/authenticate.ts'
import { createCreateLiveOnce } from '../application/lives/commands/create-live-once.ts'
import { createDeleteLive, removeLive } from '../application/lives/commands/delete-live.ts'
import { ownOrigin } from '../application/log/origin.ts'
import { createEndLivesOf } from '../application/lives/commands/end-lives-of.ts'
import { createFinishLives } from '../application/lives/commands/finish-live.ts'
import { createHistory } from '../application/lives/queries/get-history.ts'
import { createLiveLifecycle } from '../application/lives/commands/live-lifecycle.ts'
import { createExpiry, lookEvery } from '../application/lives/policies/expire-lives.ts'
import { createTranscripts } from '../application/lives/queries/get-transcript.ts'
import { listInstalled } from '../application/catalogue/commands/list-installed.ts'
import type { Logger } from '../application/ports/environment.ts'
import { createLiveBus } from '../application/pipeline/live-bus.ts'
import { createLags } from '../application/pipeline/lags.ts'
import { createLivePipeline } from '../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../application/pipeline/scheduler.ts'
import { pause } from '../application/waiting.ts'
import { createProfiles } from '../application/profiles/commands/profiles.ts'
import { createQueries } from '../application/queries.ts'
import { reconcileAtStart, startReconciler } from '../application/lives/policies/reconcile-lives.ts'
import type { Services } from '../application/services.ts'
import { createLiveSessions } from '../application/sessions/live-sessions.ts'
import { watchEnds } from '../application/lives/policies/watch-ends.ts'
import { createAdministrators } from '../application/users/administrators.ts'
import { createDeleteUser } from '../application/users/commands/delete-user.ts'
import { createLoginThrottle } from '../application/users/login-throttle.ts'
import { createKeyAuthentication } from '../application/tokens/queries/authenticate-key.ts'
import { startTokenDirectory } from '../application/tokens/policies/token-directory.ts'
import { createTokenUses } from '../application/tokens/policies/token-uses.ts'
import { createTokens } from '../application/tokens/commands/tokens.ts'
import { adminFromSettings, createSetup } from '../application/users/commands/set-up.ts'
import { trustedTokens, trustedUsers } from '../application/users/trusted.ts'
import { startUserDirectory } from '../application/users/policies/user-directory.ts'
import { createRehash } from '../application/users/policies/rehash.ts'
import { createUserChanges } from '../application/users/commands/change-user.ts'
import { createUsers } from '../application/users/commands/register-user.ts'
import { createTranslations } from '../application/translation/translations.ts'
import { watchLog } from '../application/log/watched-log.ts'
import { openCatalogue } from '../infrastructure/catalogue/catalogue.ts'
import { BUNDLED_MODELS } from '../infrastructure/catalogue/installed-models.ts'
import { createCredentials } from '../infrastructure/keys/credentials.ts'
import { createEnvironment } from '../infrastructure/node/environment.ts'
import { foldingCode } from '../infrastructure/files/folding-code.ts'
import { inRequest } from '../infrastructure/node/request-context.ts'
import { createLogger } from '../infrastructure/node/logger.ts'
import { createSpeechEngine } from '../infrastructure/onnx/process/engine-client.ts'
import { createTranslationEngine } from '../infrastructure/onnx/process/translation-client.ts'
import type { Settings } from '../infrastructure/settings.ts'
import { createPullers } from '../infrastructure/sources/puller/puller-client.ts'
import { systemTimers as timers } from '../infrastructure/node/system-timers.ts'
import { allProjections } from '../projections/all-projections.ts'
import { stagedOf } from '../projections/rebuild/half-built.ts'
import { discardLostFuture } from '../projections/rebuild/lost-future.ts'
import { startProjector } from '../projections/projector.ts'
import { setupLink } from './http/clients/links.ts'
import { openControl } from './compose/control.ts'
import { DUTIES, startDuties } from './compose/duties.ts'
import { eraseAgain } from './compose/erase-again.ts'
import { adminPassword } from './compose/first-admin.ts'
import { openFront } from './compose/front.ts'
import { createHealth } from './compose/health.ts'
import { liveReads } from './compose/live-reads.ts'
import { createRescan, watchLoads } from './compose/models.ts'
import { createPullRefusal, isolationHere } from './compose/sources.ts'
import { succeed, succeedUnlessHurt } from './compose/succeed.ts'
import { watchStore } from './compose/store-watch.ts'
import { openStores } from './compose/stores.ts'

/** The only worker there is while one process does everything (ROLE all). */
const WORKER = 'local'
/** Time for the last words of lives that outlast the drain. */
const LAST_WORDS_MS = 10_000
/** D50: half of the machine's memory where no GPU is used. */
const detectVram = (): number => Math.floor(totalmem() / 2 ** 20 / 2)

export interface RunningService {
  /** `http://host:port` as bound. */
  readonly url: string
  /** The one-time set-up link, null once there is a user. */
  readonly setupLink: string | null
  /** Drains: no new lives and sockets, open lives get DRAIN_TIMEOUT, then the stores close. */
  readonly stop: () => Promise<void>
  readonly logger: Logger
}

/** Puts the whole service together and starts it: the one place that knows every part. */
export const startService = async (settings: Settings): Promise<RunningService> => {
  const logger = createLogger(settings.logLevel)
  const environment = createEnvironment()
  const isolating = isolationHere(settings, logger)
  const stores = await openStores(settings, logger)
  const { documents, keyring } = stores
  const log = watchLog(stores.store, logger)
  const { store } = log
  const projections = [...allProjections, ...allProjections.map(stagedOf)]
  await succeed('compare the read models with the log', discardLostFuture({ store, documents, projections, duties: DUTIES, logger }))
  const credentials = createCredentials({ masterKey: stores.masterKey, jwtTtlSeconds: settings.jwtTtl / 1000, environment })
  const stopping = new AbortController()
  const { signal } = stopping
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as { readonly version: string }

  const installed = await openCatalogue({ listInstalled: listInstalled({ store, environment, logger }), logger, modelsDir: settings.modelsDir, bundledDir: BUNDLED_MODELS })
  const { engine, failing } = watchLoads(createSpeechEngine({ ...installed.speech, logger }))
  const translator = createTranslationEngine({ ...installed.translation, logger })

  // Write side. The lives of a process that died are settled before anybody can ask (D53, R104).
  const write = { store, keyring, environment, timers }
  const { catalogue, ...switches } = await succeed('read what is switched off', openReferenceSwitches(write, installed))
  const admission = await createAdmissionActor({ ...write, logger })
  const capacity = { type: 'SetCapacity', worker: WORKER, vram: settings.vramMb ?? detectVram(), at: environment.now() } as const
  const startId = environment.newId()
  await succeedUnlessHurt('set the capacity', admission.send({ command: capacity, commandId: startId, correlationId: startId, actor: 'service' }))
  const otherInstances = (): ReadonlyArray<string> => []
  const reconciling = { ...write, admission, otherInstances }
  await succeed('reconcile lives and reservations', reconcileAtStart(reconciling))

  // Read side.
  const code = await foldingCode()
  const reading = { store, documents, projections: allProjections, code }
  const projector = startProjector({ ...reading, logger, environment, timers, signal })
  const directory = startUserDirectory({ store, keyring, logger, environment, timers, signal })
  const tokens = startTokenDirectory({ store, logger, environment, timers, signal })
  await Promise.all([projector.caughtUp(), directory.ready(), tokens.ready()])
  const { whenProjected } = projector
  const reads = liveReads({ documents, keyring, credentials })

  // Lives that run here.
  const lifecycle = createLiveLifecycle({ ...reconciling, ...reads, whenProjected })
  const bus = createLiveBus({ logger })
  const scheduler = createScheduler(engine, environment.monotonic)
  const lags = createLags()
  const createPipeline = createLivePipeline({ engine, scheduler, monotonic: environment.monotonic, timers, lags })
  // Never ourselves, not even where everything is allowed: the port is known once it is bound.
  let ownPort = settings.port === 0 ? null : settings.port
  const rules = () => ({ allow: settings.audioUrlAllowCidrs ?? [], ownPort })
  const head = await succeed('read the head of the log', store.head())
  const translations = createTranslations({ engine: translator, monotonic: environment.monotonic, logger })
  const isolation = await isolating
  const sessions = createLiveSessions({
    lifecycle,
    createPipeline,
    startPuller: createPullers({ rules, isolation }),
    translations,
    bus,
    ends: (ended) => watchEnds({ store, from: head, logger, environment, timers, whenProjected }, ended),
    logger,
    environment,
    timers,
    reconnectGrace: settings.reconnectGrace,
  })
  const isDisabled = (userId: number): boolean => O.exists((user: User) => !isActive(user))(directory.byId(userId))
  const expiry = createExpiry({ ...reconciling, limits: settings, flush: sessions.flush })
  const reconciler = startReconciler({ ...reconciling, isDisabled, logger, expiry, every: lookEvery(settings) })
  const listsAreCurrent = () => projector.lag().every(({ secondsBehind, error }) => error === null && secondsBehind < 30)
  const duties = startDuties({ ...write, ...reads, admission, documents, logger, retentionMax: settings.retentionMax, listsAreCurrent })

  // What people and programs ask for.
  const users = createUsers({ ...write, credentials, directory, projector })
  const { registerUser } = users
  // Who cannot be read is one all the same: a service with users must not ask for its first.
  const hasUsers = (): boolean => directory.count() > 0 || log.isHurt('user')
  await succeed('complete the users', users.ensureFirstProfiles())
  if (settings.adminUsername !== null)
    await succeed('create the first admin', adminFromSettings({ hasUsers, registerUser })(settings.adminUsername, await adminPassword(settings)))
  const setup = createSetup({ environment, credentials, hasUsers, registerUser })

  const throttle = createLoginThrottle({ ...write, credentials, logger, enabled: settings.rateLimit > 0 })
  const endLivesOf = createEndLivesOf({ ...write, admission })
  const administrators = createAdministrators({ ...write, directory })
  const { deleteUser, deleteUserAgain } = createDeleteUser({ ...write, ...reads, admission, documents, directory, projector, administrators })
  await eraseAgain(settings.dataDir, {
    deleteUserAgain,
    deleteLiveAgain: (liveId) => removeLive({ ...write, admission }, liveId, ownOrigin(write))(),
  })
  let draining = false
  const pullRefusal = createPullRefusal(isolation, rules)
  const createLive = createCreateLiveOnce({ ...write, ...reads, admission, catalogue, credentials, whenProjected, pullRefusal })
  const finishing = createFinishLives({ ...write, ...reads, admission, credentials, flush: sessions.flush, whenProjected })
  const uses = createTokenUses({ ...write, logger })
  const rehash = createRehash({ ...write, credentials, logger })
  const startedOnceCreated = (create: ReturnType<typeof createLive>): ReturnType<typeof createLive> => async () => {
    const created = await create()
    // The answer does not wait for it (R68).
    if (E.isRight(created) && created.right.autoStart) void sessions.autoStart(created.right.id)
    return created
  }
  const trusted = trustedUsers(directory, log)
  const services: Services = {
    ...createAuthentication({ directory: trusted, credentials, throttle, rehash }),
    ...createUserChanges({ ...write, credentials, directory, projector, throttle, administrators, endLivesOf }),
    ...createKeyAuthentication({ tokens: trustedTokens(tokens, log), users: trusted, credentials, environment, uses }),
    ...createTokens({ ...write, credentials, documents, tokens, projector }),
    ...createProfiles({ ...write, documents, projector }),
    ...createQueries({ documents, keyring, directory }),
    ...finishing,
    ...createAdminLives({ directory, finish: finishing.finishAny, lags }),
    ...switches,
    ...createRescan(installed, catalogue),
    ...createDeleteLive({ ...write, admission, whenProjected }),
    ...createHistory({ store, keyring }),
    ...createTranscripts({ store, keyring, environment, retentionMax: settings.retentionMax }),
    hasUsers,
    registerUser,
    deleteUser,
    createLive: (...given) =>
      draining ? async () => E.left({ _tag: 'StoreUnavailable', reason: 'the server is shutting down' }) : startedOnceCreated(createLive(...given)),
  }
  const isDraining = (): boolean => draining
  const storeWatch = watchStore({ store, timers, signal })
  const told = { admission, projector, translations, sessions, lags, engine, isolation, log, keyring, failing }
  const health = createHealth({ ...told, store: storeWatch, readModels: stores, draining: isDraining })

  // D53: sources of an earlier process go on, before a sender can come to their lives.
  await Promise.all(admission.state().open.map(({ liveId }) => sessions.autoStart(liveId)))

  const http = { ...services, ...reads, listAllLives: listAllLives({ ...write, ...reads, directory, lags }), setup, catalogue, ...health, settings, version, logger, inRequest }
  const front = await openFront({ ...http, sessions, bus, environment, timers, draining: isDraining })
  const closeControl = await openControl({ ...http, projector }, settings.dataDir)
  ownPort = Number(new URL(front.url).port)
  void projector.finishRebuilds()

  const stop = async (): Promise<void> => {
    draining = true
    const deadline = environment.monotonic() + settings.drainTimeout
    while (sessions.count() > 0 && environment.monotonic() < deadline) await pause(timers, 50)
    // What lives have heard by now is still sent; 0 means at once.
    if (settings.drainTimeout > 0) await sessions.flushAll(LAST_WORDS_MS)
    await Promise.all([front.close(), closeControl()])
    await sessions.close()
    await Promise.all([reconciler.stop(), duties.stop()])
    await Promise.all([engine.close(), translator.close()])
    await admission.idle()
    await Promise.all([uses.settled(), rehash.settled()])
    stopping.abort()
    await Promise.all([projector.stopped, directory.stopped, tokens.stopped, storeWatch.stopped])
    await stores.close()
  }
  const token = setup.token()
  return { url: front.url, setupLink: token === null ? null : setupLink(settings, front.url, token), stop, logger }
}
