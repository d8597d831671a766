import { apiTokens } from './api-tokens.ts'
import { liveCounts, liveTotals } from './live-counts.ts'
import { liveTokens } from './live-tokens.ts'
import { lives } from './lives.ts'
import { profiles } from './profiles.ts'
import type { Projection } from './projection.ts'
import { users } from './users.ts'

export const allProjections: ReadonlyArray<Projection> = [lives, liveTokens, liveCounts, liveTotals, users, profiles, apiTokens]
