import type { Config } from './kernel/config/config.ts'
import { ACCESS } from './access/product.ts'
import { ACCOUNTS } from './accounts/product.ts'
import { ARCHIVE } from './archive/product.ts'
import { CHAIN } from './ingest/product.ts'
import { DATA } from './data/product.ts'
import { DOCS, EDGE } from './edge/product.ts'
import type { Product } from './kernel/compose/product.ts'
import { HOLDERS } from './holders/product.ts'
import { PROGRAM_ACCOUNTS } from './program-accounts/product.ts'
import { REVENUE, WATCHES } from './revenue/product.ts'
import { RPC_SUBSCRIPTIONS } from './rpc/subscriptions-product.ts'
import { RPC } from './rpc/product.ts'
import { RETENTION, STORE } from './store/product.ts'
import { CHANNELS, STREAM } from './stream/product.ts'
import { TRACKING, TRANSACTIONS } from './transactions/product.ts'
import { DELIVERY, WEBHOOKS } from './webhooks/product.ts'

/** Every product, in the order in which their units start: each depends on earlier ones. */
export const PRODUCTS: readonly Product[] = [
  STORE,
  WATCHES,
  CHAIN,
  ARCHIVE,
  DATA,
  CHANNELS,
  STREAM,
  WEBHOOKS,
  DELIVERY,
  TRANSACTIONS,
  TRACKING,
  ACCOUNTS,
  PROGRAM_ACCOUNTS,
  HOLDERS,
  REVENUE,
  RPC,
  RPC_SUBSCRIPTIONS,
  ACCESS,
  EDGE,
  DOCS,
  RETENTION
]

/** Returns the products of a process with the given roles. */
export function productsOf({ role }: Pick<Config, 'role'>): readonly Product[] {
  return PRODUCTS.filter(({ roles }) => roles.some((each) => role.includes(each)))
}
