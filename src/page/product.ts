import type { Product } from '../kernel/compose/product.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { pageRoutes } from './routes/page.ts'

/** The page at `/`: the market, the tenant's views and the operator's, over the calls that every user can make. */
export const PAGE: Product = {
  name: 'page',
  roles: ['gateway'],
  routes: () => (side) => routesWith(side, [pageRoutes])
}
