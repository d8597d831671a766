import { createKnownStates } from '../../../application/log/states/known-states.ts'
import type { StreamStates } from '../../../application/log/states/load-state.ts'
import { createStreamSnapshots } from '../../../application/log/states/stream-snapshots.ts'
import type { WriteDeps } from '../../../application/log/handle-command.ts'
import { silentLogger } from '../doubles/loggers.ts'

/** What a process knows about streams, as the service composes it. */
export const createStreamStates = (deps: Omit<WriteDeps, 'states'>): StreamStates =>
  ({ known: createKnownStates(), snapshots: createStreamSnapshots({ ...deps, logger: silentLogger }) })
