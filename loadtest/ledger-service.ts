/**
 * Serves the totals and events of the revenue ledger without a response cache, on a store that has one. Argument: the data
 * directory.
 */
import { join } from 'node:path'
import { bootstrapKeys } from '../src/access/bootstrap.ts'
import { KeyDirectory } from '../src/access/key-directory.ts'
import { CommitFeed } from '../src/kernel/feed/commit-feed.ts'
import { setServingHeap } from '../src/kernel/memory/serving-heap.ts'
import { CashList } from '../src/market/cash.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { appOf } from '../test/http/app-of.ts'
import { appDeps } from './app-deps.ts'
import { HEADERS } from './service-process.ts'

const NO_LIMIT = 1_000_000_000

const storage = await openEmbeddedStorage({ directory: join(process.argv[2]!, 'store') })
await bootstrapKeys(storage, { adminKey: HEADERS['x-api-key'], hasDemo: false }, 1)
const keys = await KeyDirectory.load(storage, NO_LIMIT, null, NO_LIMIT)
const feed = new CommitFeed()
feed.restore(await storage.blocks.head())
const app = appOf(appDeps({ storage, keys, cash: new CashList(), feed, answerBytes: 0 }))
setServingHeap(false)
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())
