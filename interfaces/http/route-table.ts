import type { Route } from './route.ts'
import { activityRoutes } from './routes/activity.ts'
import type { ActivityCalls } from './routes/activity.ts'
import { adminRoutes } from './routes/admin/routes.ts'
import type { AdminCalls } from './routes/admin/routes.ts'
import { consoleRoutes } from './routes/console.ts'
import type { ConsoleCalls } from './routes/console.ts'
import { descriptionRoutes } from './routes/description.ts'
import type { DescriptionCalls } from './routes/description.ts'
import { embedRoutes } from './routes/embed.ts'
import { historyRoutes } from './routes/history.ts'
import type { HistoryCalls } from './routes/history.ts'
import { liveRoutes } from './routes/lives.ts'
import type { LiveCalls } from './routes/lives.ts'
import { operationRoutes } from './routes/operations.ts'
import type { OperationCalls } from './routes/operations.ts'
import { profileRoutes } from './routes/profiles.ts'
import type { ProfileCalls } from './routes/profiles.ts'
import { referenceRoutes } from './routes/reference.ts'
import type { ReferenceCalls } from './routes/reference.ts'
import { setupRoutes } from './routes/setup.ts'
import type { SetupCalls } from './routes/setup.ts'
import { tokenRoutes } from './routes/tokens.ts'
import type { TokenCalls } from './routes/tokens.ts'
import { transcriptRoutes } from './routes/transcripts.ts'
import type { TranscriptCalls } from './routes/transcripts.ts'
import { userRoutes } from './routes/users.ts'
import type { UserCalls } from './routes/users.ts'

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
