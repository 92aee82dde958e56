/**
 * Serves GET /v1/search over synthetic names, without a chain. Arguments: the directory of its store, and the number of
 * tokens. Any message is answered with the memory and the times of the index.
 */
import { bootstrapKeys } from '../src/access/bootstrap.ts'
import { KeyDirectory } from '../src/access/key-directory.ts'
import { pubkeyMapKey, type Pubkey } from '../src/chain/pubkey.ts'
import { buildApp } from '../src/http/app.ts'
import { searchRoutes } from '../src/http/routes/search.ts'
import { CashList } from '../src/market/cash.ts'
import { Ranking } from '../src/market/ranking.ts'
import { NameIndex, type Volumes } from '../src/views/name-index.ts'
import { foldedText } from '../src/views/name-text.ts'
import { RankingHandle } from '../src/views/ranking-handle.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { appDeps, NO_LIMIT } from './app-deps.ts'
import { namesOf, TEXTS } from './search-names.ts'
import { HEADERS } from './served-market.ts'

/** Share of tokens that traded in the last day. */
const TRADED = 0.2
/** Memory for names: no token is evicted. */
const NAMES_BYTES = 2 ** 30

const [directory, count] = process.argv.slice(2)
const tokens = Number(count)
const storage = await openEmbeddedStorage({ directory: directory! })
await storage.blocks.claim(null)
await bootstrapKeys(storage, { adminKey: HEADERS['x-api-key'], hasDemo: false }, 1)
const cash = new CashList()
const ranking = new Ranking()
ranking.advance(0)
for (let n = 0; n < tokens * TRADED; n++)
  ranking.take(mintOf(n * 5), [{ minute: 0, trades: 1, volumeMicroUsd: BigInt((n * 7_919) % 100_003) }])
const live = new RankingHandle()
live.show(ranking)

globalThis.gc?.()
const before = heldBytes()
const names = new NameIndex({ bytesMax: NAMES_BYTES, cash })
const began = performance.now()
for (let n = 0; n < tokens; n++) names.setLaunch({ mint: mintOf(n), ...namesOf(n) })
const fillMs = performance.now() - began
names.endReload()
globalThis.gc?.()
const held = heldBytes() - before

const keys = await KeyDirectory.load(storage, NO_LIMIT, null, NO_LIMIT)
const app = buildApp(appDeps({ storage, keys, cash, ranking: live, names }), [searchRoutes])
process.on('message', () => process.send!({ fillMs, held, estimated: names.bytes, times: searchTimes() }))
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())

function mintOf(n: number): Pubkey {
  const mint = new Uint8Array(32).fill(7)
  new DataView(mint.buffer).setUint32(0, Math.imul(n, 2_654_435_761))
  return mint
}

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Microseconds of each search of the texts in the index alone, after one that is not counted. */
function searchTimes(): { text: string; hits: number; micros: number }[] {
  const volumes: Volumes = {
    of: (mapKey) => ranking.volume('24h', mapKey),
    descending: () => ranking.byVolume('24h')
  }
  return TEXTS.map((text) => {
    const folded = foldedText(text)
    names.search(folded, 20, volumes)
    const start = performance.now()
    names.search(folded, 20, volumes)
    const micros = (performance.now() - start) * 1_000
    return {
      text,
      hits: names.search(folded, 1e9, { of: () => undefined, descending: () => [] }).length,
      micros
    }
  })
}

// The keys of the ranking and of the index are equal texts.
if (tokens > 0 && ranking.volume('24h', pubkeyMapKey(mintOf(5))) === undefined) throw new Error('no volume')
