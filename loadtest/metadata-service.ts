/** Serves GET /v1/metadata over a node, without a chain. Arguments: the directory of its store, and the URL of the node. */
import { bootstrapKeys } from '../src/access/bootstrap.ts'
import { KeyDirectory } from '../src/access/key-directory.ts'
import { MintDirectory } from '../src/accounts/mint-directory.ts'
import { RpcAccountNode } from '../src/accounts/node-client.ts'
import { PoolDirectory } from '../src/accounts/pools/pool-directory.ts'
import { buildApp } from '../src/http/app.ts'
import { metadataRoutes } from '../src/http/routes/metadata.ts'
import { CashList } from '../src/market/cash.ts'
import { systemPorts } from '../src/ports.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { appDeps, NO_LIMIT } from './app-deps.ts'
import { HEADERS } from './served-market.ts'

const [directory, url] = process.argv.slice(2)
const { clock } = systemPorts
const storage = await openEmbeddedStorage({ directory: directory! })
await storage.blocks.claim(null)
await bootstrapKeys(storage, { adminKey: HEADERS['x-api-key'], hasDemo: false }, 1)
const node = new RpcAccountNode(() => [url!], clock)
// This process's share of the default memory.
const options = { node, clock, bytesMax: 16 * 2 ** 20 }
const accounts = {
  node,
  mints: new MintDirectory(options),
  pools: new PoolDirectory(options),
  offChain: null
}
const keys = await KeyDirectory.load(storage, NO_LIMIT, null, NO_LIMIT)
const app = buildApp(appDeps({ storage, keys, cash: new CashList(), accounts }), [metadataRoutes])
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())
