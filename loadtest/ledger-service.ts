/**
 * Serves the totals and events of the revenue ledger without a response cache, on a store that has one. Argument: the data
 * directory.
 */
import { join } from 'node:path'
import { bootstrapKeys } from '../src/access/bootstrap.ts'
import { KeyDirectory } from '../src/access/key-directory.ts'
import { buildApp } from '../src/edge/routes/app.ts'
import { revenueEventRoutes } from '../src/revenue/routes/revenue-events.ts'
import { revenueTotalRoutes } from '../src/revenue/routes/revenue-totals.ts'
import { CashList } from '../src/market/cash.ts'
import { CommitFeed } from '../src/kernel/feed/commit-feed.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { appDeps, NO_LIMIT } from './app-deps.ts'
import { HEADERS } from './served-market.ts'

const storage = await openEmbeddedStorage({ directory: join(process.argv[2]!, 'store') })
await bootstrapKeys(storage, { adminKey: HEADERS['x-api-key'], hasDemo: false }, 1)
const keys = await KeyDirectory.load(storage, NO_LIMIT, null, NO_LIMIT)
const feed = new CommitFeed()
feed.restore(await storage.blocks.head())
const deps = appDeps({ storage, keys, cash: new CashList(), feed, answerBytes: 0 })
const app = buildApp(deps, [revenueTotalRoutes, revenueEventRoutes])
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())
