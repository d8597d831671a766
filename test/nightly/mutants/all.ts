import type { Mutant } from './mutant.ts'
import { accountMutants } from './accounts.ts'
import { admissionMutants } from './admission.ts'
import { transcriptOptionMutants } from './transcript-options.ts'
import { attentionMutants } from './attention.ts'
import { auditMutants } from './audit.ts'
import { commandLineMutants } from './command-line.ts'
import { connectionMutants } from './connections.ts'
import { directoryMutants } from './directories.ts'
import { engineCostMutants } from './engine-cost.ts'
import { engineProcessMutants } from './engine-processes.ts'
import { engineSettingMutants } from './engine-settings.ts'
import { eventStoreDbLeaderMutants } from './eventstoredb-leader.ts'
import { eventStoreDbMutants } from './eventstoredb.ts'
import { handshakeMutants } from './handshakes.ts'
import { hubMutants } from './hub.ts'
import { damagedDataMutants } from './damaged-data.ts'
import { isolationMutants } from './isolation.ts'
import { jobMutants } from './jobs.ts'
import { keyMutants } from './keys.ts'
import { linkMutants } from './links.ts'
import { limitMutants } from './limits.ts'
import { listenerMutants } from './listeners.ts'
import { liveMutants } from './lives.ts'
import { logMarkMutants } from './log-mark.ts'
import { memberMutants } from './members.ts'
import { missedFinalsMutants } from './missed-finals.ts'
import { mongoDoubleMutants } from './mongodb-double.ts'
import { mongoMutants } from './mongodb.ts'
import { formerSurvivorMutants } from './former-survivors.ts'
import { onnxMutants } from './onnx.ts'
import { placementMutants } from './placement.ts'
import { rebuildMutants } from './rebuilds.ts'
import { relayMutants } from './relay.ts'
import { restMutants } from './rest.ts'
import { senderMutants } from './senders.ts'
import { socketMutants } from './sockets.ts'
import { sourceMutants } from './sources.ts'
import { sqliteMutants } from './sqlite.ts'
import { storeMutants } from './stores.ts'
import { termMutants } from './terms.ts'
import { vocabularyAndLanguageMutants } from './vocabulary-and-languages.ts'

export const MUTANTS: ReadonlyArray<Mutant> = [
  ...restMutants,
  ...liveMutants,
  ...admissionMutants,
  ...placementMutants,
  ...accountMutants,
  ...directoryMutants,
  ...senderMutants,
  ...socketMutants,
  ...engineSettingMutants,
  ...listenerMutants,
  ...missedFinalsMutants,
  ...limitMutants,
  ...linkMutants,
  ...sourceMutants,
  ...sqliteMutants,
  ...keyMutants,
  ...auditMutants,
  ...hubMutants,
  ...onnxMutants,
  ...attentionMutants,
  ...eventStoreDbMutants,
  ...eventStoreDbLeaderMutants,
  ...mongoMutants,
  ...mongoDoubleMutants,
  ...memberMutants,
  ...jobMutants,
  ...logMarkMutants,
  ...commandLineMutants,
  ...formerSurvivorMutants,
  ...storeMutants,
  ...damagedDataMutants,
  ...handshakeMutants,
  ...connectionMutants,
  ...isolationMutants,
  ...rebuildMutants,
  ...engineCostMutants,
  ...engineProcessMutants,
  ...termMutants,
  ...relayMutants,
  ...transcriptOptionMutants,
  ...vocabularyAndLanguageMutants,
]
