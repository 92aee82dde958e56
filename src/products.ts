import { ACCESS_COMMANDS } from './access/commands.ts'
import { ARCHIVE_COMMANDS } from './archive/commands.ts'
import { EDGE_COMMANDS } from './edge/commands.ts'
import { INGEST_COMMANDS } from './ingest/commands.ts'
import { PROGRAM_ACCOUNTS_COMMANDS } from './program-accounts/commands.ts'
import { REVENUE_COMMANDS } from './revenue/commands.ts'
import { RPC_COMMANDS } from './rpc/commands.ts'
import { STORE_COMMANDS } from './store/commands.ts'
import { STREAM_COMMANDS } from './stream/commands.ts'
import { TRANSACTION_COMMANDS } from './transactions/commands.ts'
import { WEBHOOK_COMMANDS } from './webhooks/commands.ts'
import type { ProductRow } from './kernel/product-row.ts'

/**
 * Every product, in the order in which their units start: each depends on earlier ones. A row loads its product when it is
 * needed; commands are known at once, because their help is.
 */
export const PRODUCT_ROWS: readonly ProductRow[] = [
  { commands: STORE_COMMANDS, product: async () => (await import('./store/product.ts')).STORE },
  { product: async () => (await import('./revenue/product.ts')).WATCHES },
  { commands: INGEST_COMMANDS, product: async () => (await import('./ingest/product.ts')).CHAIN },
  { commands: ARCHIVE_COMMANDS, product: async () => (await import('./archive/product.ts')).ARCHIVE },
  { product: async () => (await import('./data/product.ts')).DATA },
  { product: async () => (await import('./stream/product.ts')).CHANNELS },
  { commands: STREAM_COMMANDS, product: async () => (await import('./stream/product.ts')).STREAM },
  { commands: WEBHOOK_COMMANDS, product: async () => (await import('./webhooks/product.ts')).WEBHOOKS },
  { product: async () => (await import('./webhooks/product.ts')).DELIVERY },
  {
    commands: TRANSACTION_COMMANDS,
    product: async () => (await import('./transactions/product.ts')).TRANSACTIONS
  },
  { product: async () => (await import('./transactions/product.ts')).TRACKING },
  { product: async () => (await import('./accounts/product.ts')).ACCOUNTS },
  {
    commands: PROGRAM_ACCOUNTS_COMMANDS,
    product: async () => (await import('./program-accounts/product.ts')).PROGRAM_ACCOUNTS
  },
  { product: async () => (await import('./holders/product.ts')).HOLDERS },
  { commands: REVENUE_COMMANDS, product: async () => (await import('./revenue/product.ts')).REVENUE },
  { commands: RPC_COMMANDS, product: async () => (await import('./rpc/product.ts')).RPC },
  { product: async () => (await import('./rpc/subscriptions-product.ts')).RPC_SUBSCRIPTIONS },
  { commands: ACCESS_COMMANDS, product: async () => (await import('./access/product.ts')).ACCESS },
  { commands: EDGE_COMMANDS, product: async () => (await import('./edge/product.ts')).EDGE },
  { product: async () => (await import('./edge/product.ts')).DOCS },
  { product: async () => (await import('./store/product.ts')).RETENTION }
]
