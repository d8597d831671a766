import type { Mutant } from './mutant.ts'
import { accountMutants } from './accounts.ts'
import { liveMutants } from './lives.ts'
import { restMutants } from './rest.ts'
import { socketMutants } from './sockets.ts'

export const MUTANTS: ReadonlyArray<Mutant> = [...restMutants, ...liveMutants, ...accountMutants, ...socketMutants]
