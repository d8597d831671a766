import { durabilityMutants } from './durability.ts'
import { fencingMutants } from './fencing.ts'
import type { Mutant } from './mutant.ts'
import { securityMutants } from './security.ts'

export const MUTANTS: ReadonlyArray<Mutant> = [...durabilityMutants, ...fencingMutants, ...securityMutants]
