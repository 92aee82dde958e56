import { ACCESS_COMMANDS } from './access/commands.ts'
import { ARCHIVE_COMMANDS } from './archive/commands.ts'
import { CAPACITY_COMMANDS } from './capacity/commands.ts'
import { DATA_COMMANDS } from './data/commands.ts'
import { EDGE_COMMANDS } from './edge/commands.ts'
import { FLEET_COMMANDS } from './fleet/commands.ts'
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
 * Every product, in the order in which their units start: each depends on earlier ones. A row loads its product and
 * its settings when they are needed; commands are known at once, because their help is.
 */
export const PRODUCT_ROWS: readonly ProductRow[] = [
  {
    commands: STORE_COMMANDS,
    settings: { position: 3, load: async () => (await import('./store/settings.ts')).STORAGE_SETTINGS },
    product: async () => (await import('./store/product.ts')).STORE
  },
  { commands: FLEET_COMMANDS, product: async () => (await import('./fleet/product.ts')).FLEET_PRODUCT },
  { product: async () => (await import('./revenue/product.ts')).WATCHES },
  {
    commands: INGEST_COMMANDS,
    settings: { position: 2, load: async () => (await import('./ingest/settings.ts')).INGEST_SETTINGS },
    product: async () => (await import('./ingest/product.ts')).INGEST
  },
  { commands: ARCHIVE_COMMANDS, product: async () => (await import('./archive/product.ts')).ARCHIVE },
  {
    commands: DATA_COMMANDS,
    settings: { load: async () => (await import('./data/settings.ts')).DATA_SETTINGS },
    product: async () => (await import('./data/product.ts')).DATA
  },
  {
    settings: { position: 5, load: async () => (await import('./stream/settings.ts')).STREAM_SETTINGS },
    product: async () => (await import('./stream/product.ts')).CHANNELS
  },
  { commands: STREAM_COMMANDS, product: async () => (await import('./stream/product.ts')).STREAM },
  {
    commands: WEBHOOK_COMMANDS,
    settings: { position: 6, load: async () => (await import('./webhooks/settings.ts')).WEBHOOK_SETTINGS },
    product: async () => (await import('./webhooks/product.ts')).WEBHOOKS
  },
  { product: async () => (await import('./webhooks/product.ts')).DELIVERY },
  {
    commands: TRANSACTION_COMMANDS,
    settings: {
      position: 7,
      load: async () => (await import('./transactions/settings.ts')).TRANSACTION_SETTINGS
    },
    product: async () => (await import('./transactions/product.ts')).TRANSACTIONS
  },
  { product: async () => (await import('./transactions/product.ts')).TRACKING },
  {
    settings: { position: 8, load: async () => (await import('./accounts/settings.ts')).ACCOUNT_SETTINGS },
    product: async () => (await import('./accounts/product.ts')).ACCOUNTS
  },
  {
    commands: PROGRAM_ACCOUNTS_COMMANDS,
    product: async () => (await import('./program-accounts/product.ts')).PROGRAM_ACCOUNTS
  },
  {
    settings: { position: 9, load: async () => (await import('./holders/settings.ts')).HOLDER_SETTINGS },
    product: async () => (await import('./holders/product.ts')).HOLDERS
  },
  {
    commands: REVENUE_COMMANDS,
    settings: { load: async () => (await import('./revenue/settings.ts')).REVENUE_SETTINGS },
    product: async () => (await import('./revenue/product.ts')).REVENUE
  },
  {
    commands: RPC_COMMANDS,
    settings: { position: 10, load: async () => (await import('./rpc/settings.ts')).RPC_SETTINGS },
    product: async () => (await import('./rpc/product.ts')).RPC
  },
  { product: async () => (await import('./rpc/subscriptions-product.ts')).RPC_SUBSCRIPTIONS },
  {
    commands: ACCESS_COMMANDS,
    settings: { position: 4, load: async () => (await import('./access/settings.ts')).ACCESS_SETTINGS },
    product: async () => (await import('./access/product.ts')).ACCESS
  },
  {
    commands: { ...EDGE_COMMANDS, ...CAPACITY_COMMANDS },
    settings: { position: 1, load: async () => (await import('./edge/settings.ts')).SERVICE_SETTINGS },
    product: async () => (await import('./edge/product.ts')).EDGE
  },
  { product: async () => (await import('./edge/product.ts')).DOCS },
  { product: async () => (await import('./page/product.ts')).PAGE },
  { product: async () => (await import('./store/product.ts')).RETENTION }
]
