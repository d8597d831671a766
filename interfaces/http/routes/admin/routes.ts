import type { Route } from '../../route.ts'
import { adminCatalogueRoutes } from './catalogue.ts'
import type { AdminCatalogueCalls } from './catalogue.ts'
import { adminLiveRoutes } from './lives.ts'
import type { AdminLiveCalls } from './lives.ts'

/** What these routes call. */
export type AdminCalls = AdminLiveCalls & AdminCatalogueCalls

export const adminRoutes: ReadonlyArray<Route<AdminCalls>> = [...adminLiveRoutes, ...adminCatalogueRoutes]
