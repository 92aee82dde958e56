import type { Config } from '../config/config.ts'
import { ACCESS } from './access.ts'
import { ACCOUNTS } from './accounts.ts'
import { ARCHIVE } from './archive.ts'
import { CHAIN } from './chain.ts'
import { DATA } from './data.ts'
import { DOCS, EDGE } from './edge.ts'
import type { Product } from './product.ts'
import { HOLDERS } from './holders.ts'
import { PROGRAM_ACCOUNTS } from './program-accounts.ts'
import { REVENUE, WATCHES } from './revenue.ts'
import { RPC_SUBSCRIPTIONS } from './rpc-subscriptions.ts'
import { RPC } from './rpc.ts'
import { RETENTION, STORE } from './store.ts'
import { CHANNELS, STREAM } from './stream.ts'
import { TRACKING, TRANSACTIONS } from './transactions.ts'
import { DELIVERY, WEBHOOKS } from './webhooks.ts'

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
