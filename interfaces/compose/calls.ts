import { candidatesAmong, isWorkerKnown } from '../../application/admission/candidates.ts'
import { getCapacity } from '../../application/admission/get-capacity.ts'
import { modelsElsewhere } from '../../application/catalogue/commands/models-elsewhere.ts'
import { removeModel, removeTranslation } from '../../application/catalogue/commands/remove-model.ts'
import { rescanModels } from '../../application/catalogue/commands/rescan-models.ts'
import {
  switchLanguage, switchModel, switchTranslation,
} from '../../application/catalogue/commands/switch-reference.ts'
import { detailedCatalogue } from '../../application/catalogue/queries/list-installed-models.ts'
import { createLiveOnce } from '../../application/lives/commands/create-live-once.ts'
import { deleteLive } from '../../application/lives/commands/delete-live.ts'
import { finishAnyLive, finishLive } from '../../application/lives/commands/finish-live.ts'
import { finishLivesByAudioUrl } from '../../application/lives/commands/finish-lives-by-audio-url.ts'
import { getActivity, type Listeners } from '../../application/lives/queries/get-activity.ts'
import { getHistory, getHistoryEntry } from '../../application/lives/queries/get-history.ts'
import { getIntegrity } from '../../application/lives/queries/get-integrity.ts'
import { getTranscript } from '../../application/lives/queries/get-transcript.ts'
import { listAllLives } from '../../application/lives/queries/list-all-lives.ts'
import { inspectLive } from '../../application/lives/queries/inspect-live.ts'
import { createDescriptions } from '../description/descriptions.ts'
import { limitTokenGuesses } from '../http/clients/limit-token-guesses.ts'
import type { Calls } from '../http/route-table.ts'
import type { AdminJobCalls } from '../http/routes/admin/jobs.ts'
import type { AdminLoadCalls } from '../http/routes/admin/load.ts'
import type { OperationCalls } from '../http/routes/operations.ts'
import type { Accounts } from './accounts.ts'
import type { Service } from './service.ts'

/** The use cases of accounts, and those that the front adds. */
type OtherCalls = Accounts['calls'] & OperationCalls & AdminJobCalls & AdminLoadCalls
type ServiceCalls = Omit<Calls, keyof OtherCalls>

/** Returns the use cases of sessions, models and descriptions. */
export const callsOf = (service: Service, isDraining: () => boolean, listeners: Listeners): ServiceCalls => {
  const { foundation, engines, writeSide, readSide, sources, access, worker: own } = service
  const { settings, store, keyring, credentials, environment, lags, stores: { members, verifyStream } } = foundation
  const { retentionMax } = settings
  const { write, switched, admission } = writeSide
  const { catalogue } = switched
  const { directory, whenProjected, lives } = readSide

  const writing = { ...write, ...lives, admission, credentials, whenProjected }
  const { overcommit } = settings
  const candidates = candidatesAmong({ members, own, admission, store: write.store, overcommit })
  const finishing = { ...writing, endByWorker: access.endByWorker }
  const { onDisk, rescan } = engines.files
  const runsModels = engines.own !== null
  const removing = { ...write, catalogue, onDisk, rescan, admission }
  const switching = { ...write, switched }
  return {
    ...createDescriptions(),
    switchModel: switchModel(switching),
    switchLanguage: switchLanguage(switching),
    switchTranslation: switchTranslation(switching),
    rescanModels: runsModels ? rescanModels({ rescan, catalogue }) : modelsElsewhere,
    detailedCatalogue: detailedCatalogue({ catalogue, onDisk, loads: engines.loads, admission }),
    removeModel: runsModels ? removeModel(removing) : modelsElsewhere,
    removeTranslation: runsModels ? removeTranslation(removing) : modelsElsewhere,
    getLive: lives.getLive,
    listLives: lives.listLives,
    listAllLives: listAllLives({ ...write, ...lives, directory, lags }),
    createLive: createLiveOnce({
      ...writing, catalogue, candidates, pullRefusal: sources.pullRefusal, isDraining,
      isWorkerKnown: () => isWorkerKnown({ members, own }),
      limitTokenGuesses: (create) => settings.rateLimit > 0 ? limitTokenGuesses(environment, create) : create,
    }),
    finishLive: finishLive(finishing),
    finishLivesByAudioUrl: finishLivesByAudioUrl(finishing),
    finishAnyLive: finishAnyLive({ ...finishing, directory, lags }),
    deleteLive: deleteLive(writing),
    getActivity: getActivity({ store, lags, listeners, runs: access.runs, catalogue, retentionMax }),
    getCapacity: getCapacity({ admission }),
    getHistory: getHistory(write),
    getHistoryEntry: getHistoryEntry(write),
    getIntegrity: getIntegrity({ store, keyring, environment, verifyStream, retentionMax, ...lives }),
    ...inspectLive({ ...write, ...lives, directory, lags, verifyStream, retentionMax }),
    getTranscript: getTranscript({ store, keyring, retentionMax }),
    catalogue,
  }
}
