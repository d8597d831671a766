import type { Route } from './route.ts'
import { type ActivityCalls, activityRoutes } from './routes/activity.ts'
import { type AdminCalls, adminRoutes } from './routes/admin/routes.ts'
import { type ConsoleCalls, consoleRoutes } from './routes/console.ts'
import { type DescriptionCalls, descriptionRoutes } from './routes/description.ts'
import { embedRoutes } from './routes/embed.ts'
import { type HistoryCalls, historyRoutes } from './routes/history.ts'
import { type LiveCalls, liveRoutes } from './routes/lives.ts'
import { type OperationCalls, operationRoutes } from './routes/operations.ts'
import { type ProfileCalls, profileRoutes } from './routes/profiles.ts'
import { type ReferenceCalls, referenceRoutes } from './routes/reference.ts'
import { type SetupCalls, setupRoutes } from './routes/setup.ts'
import { type TokenCalls, tokenRoutes } from './routes/tokens.ts'
import { type TranscriptCalls, transcriptRoutes } from './routes/transcripts.ts'
import { type UserCalls, userRoutes } from './routes/users.ts'

/** The use cases of all routes. */
export type Calls =
  UserCalls & LiveCalls & TranscriptCalls & HistoryCalls & ProfileCalls & TokenCalls & ReferenceCalls & OperationCalls &
  SetupCalls & AdminCalls & DescriptionCalls & ActivityCalls & ConsoleCalls

/** Every route of the service. The first route that matches a path is used. */
export const ROUTES: ReadonlyArray<Route<Calls>> = [
  ...userRoutes,
  ...liveRoutes,
  ...activityRoutes,
  ...transcriptRoutes,
  ...historyRoutes,
  ...profileRoutes,
  ...tokenRoutes,
  ...referenceRoutes,
  ...operationRoutes,
  ...setupRoutes,
  ...consoleRoutes,
  ...embedRoutes,
  ...adminRoutes,
  ...descriptionRoutes,
]

/** Returns the path prefixes. Every route is served under each of them. */
export const prefixes = (basePath: string | null): ReadonlyArray<string> =>
  Array.from(new Set(['', '/api/v1', basePath ?? '']))
