import type { Route } from '../../route.ts'
import { adminCatalogueRoutes } from './catalogue.ts'
import type { AdminCatalogueCalls } from './catalogue.ts'
import { adminLiveRoutes } from './lives.ts'
import type { AdminLiveCalls } from './lives.ts'
import { adminJobRoutes } from './jobs.ts'
import type { AdminJobCalls } from './jobs.ts'
import { adminLoadRoutes } from './load.ts'
import type { AdminLoadCalls } from './load.ts'
import { adminTokenRoutes } from './tokens.ts'
import type { AdminTokenCalls } from './tokens.ts'

export type AdminCalls = AdminLiveCalls & AdminCatalogueCalls & AdminTokenCalls & AdminLoadCalls & AdminJobCalls

export const adminRoutes: ReadonlyArray<Route<AdminCalls>> = [
  ...adminLiveRoutes, ...adminCatalogueRoutes, ...adminTokenRoutes, ...adminLoadRoutes, ...adminJobRoutes,
]
