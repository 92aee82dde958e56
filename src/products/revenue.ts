import { revenueAccountRoutes } from '../http/routes/revenue-accounts.ts'
import { revenueCoverageRoutes } from '../http/routes/revenue-coverage.ts'
import { revenueEventRoutes } from '../http/routes/revenue-events.ts'
import { revenueTotalRoutes } from '../http/routes/revenue-totals.ts'
import type { Product } from './product.ts'

/** The ledger of watched addresses: their balance changes and sums. */
export const REVENUE: Product = {
  name: 'revenue',
  roles: ['ingest', 'gateway'],
  settings: {},
  routes: [revenueAccountRoutes, revenueTotalRoutes, revenueEventRoutes, revenueCoverageRoutes]
}
