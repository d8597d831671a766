import type { Mutant } from './mutant.ts'
import { accountMutants } from './accounts.ts'
import { engineSettingMutants } from './engine-settings.ts'
import { limitMutants } from './limits.ts'
import { listenerMutants } from './listeners.ts'
import { liveMutants } from './lives.ts'
import { restMutants } from './rest.ts'
import { socketMutants } from './sockets.ts'
import { sourceMutants } from './sources.ts'

export const MUTANTS: ReadonlyArray<Mutant> = [
  ...restMutants, ...liveMutants, ...accountMutants, ...socketMutants, ...engineSettingMutants, ...listenerMutants, ...limitMutants, ...sourceMutants,
]
