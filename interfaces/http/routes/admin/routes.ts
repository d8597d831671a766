import type { Route } from '../../route.ts'
import { type AdminCatalogueCalls, adminCatalogueRoutes } from './catalogue.ts'
import { type AdminLiveCalls, adminLiveRoutes } from './lives.ts'
import { type AdminJobCalls, adminJobRoutes } from './jobs.ts'
import { type AdminLoadCalls, adminLoadRoutes } from './load.ts'
import { type AdminTokenCalls, adminTokenRoutes } from './tokens.ts'

export type AdminCalls = AdminLiveCalls & AdminCatalogueCalls & AdminTokenCalls & AdminLoadCalls & AdminJobCalls

export const adminRoutes: ReadonlyArray<Route<AdminCalls>> = [
  ...adminLiveRoutes, ...adminCatalogueRoutes, ...adminTokenRoutes, ...adminLoadRoutes, ...adminJobRoutes,
]
