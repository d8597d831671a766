import { apiTokens, apiTokenTotals } from './api-tokens/projection.ts'
import { liveCounts, liveTotals } from './live-counts/projection.ts'
import { liveTokens } from './live-tokens/projection.ts'
import { lives } from './lives/projection.ts'
import { profiles } from './profiles/projection.ts'
import type { Projection } from './projection.ts'
import { userTotals, users } from './users/projection.ts'

export const allProjections: ReadonlyArray<Projection> = [
  lives, liveTokens, liveCounts, liveTotals, users, userTotals, profiles, apiTokens, apiTokenTotals,
]
