/**
 * Serves the page, REST and the stream over a store in which one token has many trades a second, committed as ingest commits
 * them. Arguments: the directory of the store, trades a second, and blocks a second. Each message of the parent process is
 * answered by the key, the mint and the times of the commits since the last one.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Horizon } from '../../actors/stream/horizon.ts'
import { loadReadSet, restoreMarket } from '../../actors/ingest/market-loader.ts'
import { Replays } from '../../actors/stream/replays.ts'
import { Tenants } from '../../actors/stream/tenants.ts'
import { retryWhileUnavailable } from '../../actors/storage/retry.ts'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import { RateWindow } from '../../src/access/rate-window.ts'
import type { ChainEvent } from '../../src/chain/events.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { CashList, USDC, WSOL } from '../../src/market/cash.ts'
import type { FoldOptions } from '../../src/market/fold.ts'
import { systemPorts } from '../../src/ports.ts'
import { ChannelHistory } from '../../src/stream/channel-history.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import { StreamHub } from '../../src/stream/hub.ts'
import { ChangeHistory } from '../../src/transactions/change-history.ts'
import { TURNS_AT_ONCE } from '../../src/kernel/work/turns.ts'
import { tenantsIn } from '../../storage/access-documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { appOf } from '../../test/http/app-of.ts'
import { appDeps } from '../app-deps.ts'
import { NO_LIMIT } from '../service-process.ts'

/** The answer to a message of the parent process. */
export interface BusyToken {
  readonly key: string
  readonly mint: string
  /** Slot and Unix milliseconds of each commit since the last answer, the earliest first. */
  readonly commits: readonly (readonly [slot: number, ms: number])[]
}

const FIRST_SLOT = 450_000_000
const SWEEP_MS = 500
const [directory = '', tradesPerSecond = '1000', blocksPerSecond = '2.5'] = process.argv.slice(2)
const perBlock = Math.round(Number(tradesPerSecond) / Number(blocksPerSecond))
const { clock, random } = systemPorts

const addressOf = (kind: number, n: number): Pubkey =>
  Uint8Array.from({ length: 32 }, (_, at) => (at < 4 ? (n >> (8 * at)) & 255 : (kind * 37 + at * 71) & 255))
const mint = addressOf(1, 1)
const SOL = pubkeyFromBase58(WSOL)
type Trade = Extract<ChainEvent, { readonly kind: 'trade' }>
type Legs = Pick<
  Trade,
  'inMint' | 'outMint' | 'inDecimals' | 'outDecimals' | 'inAmount' | 'outAmount' | 'pool'
>
const USDC_SALE: Legs = {
  ...{ inMint: SOL, inDecimals: 9, inAmount: 10n ** 9n },
  ...{ outMint: pubkeyFromBase58(USDC), outDecimals: 6, outAmount: 150_000_000n, pool: addressOf(3, 0) }
}
const options: FoldOptions = { cash: new CashList(), startingSolUsd: null }

const storage = await openEmbeddedStorage({ directory })
await storage.blocks.claim(null)
await tenantsIn(storage.documents).insert({ name: 'loadtest', createdAtMs: 1 })
const keys = await KeyDirectory.load(storage, NO_LIMIT, null, NO_LIMIT)
const { key } = await keys.issue(
  {
    ...{ tenant: 'loadtest', name: 'of the page', scopes: ['data:read', 'stream'] },
    ...{ ratePerMinute: null, expiresAtMs: null, allowedIps: [], corsOrigins: [] }
  },
  clock.now()
)
const feed = new CommitFeed()
const report = (fault: unknown): void => void process.stderr.write(`${String(fault)}\n`)
const hub = new StreamHub(feed, options.cash, report)
hub.follow()
const market = await restoreMarket(storage, null)
const commits: (readonly [slot: number, ms: number])[] = []
let slot = FIRST_SLOT
await commitBlock()
const horizon = new Horizon(storage.blocks, null)
await horizon.look()
const channels = {
  hub,
  history: new ChannelHistory(storage, options.cash),
  changes: new ChangeHistory(storage.documents, { isShared: false, ttlMs: null }),
  horizon,
  replays: new Replays(TURNS_AT_ONCE),
  retry: retryWhileUnavailable(storage, clock)
}
const limits = new RateWindow(10_000)
const tenants = new Tenants(channels, limits, { clock, random }, report)
tenants.guard(keys)
setInterval(() => tenants.sweep(), SWEEP_MS)
const app = appOf(appDeps({ storage, keys, cash: options.cash, limits, stream: tenants, feed }))

process.on('message', () => {
  const answer: BusyToken = { key, mint: pubkeyToBase58(mint), commits: commits.splice(0) }
  process.send!(answer)
})
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())

const startMs = performance.now()
for (let block = 1; ; block++) {
  await sleep(Math.max(0, startMs + (block * 1_000) / Number(blocksPerSecond) - performance.now()))
  await commitBlock()
}

async function commitBlock(): Promise<void> {
  const prepared = market.prepare(blockAt(slot++), options)
  const fold = prepared.fold(await loadReadSet(storage, prepared.readSet))
  const commit = { ...fold, log: encodeLog(fold, options.cash) }
  await storage.blocks.commit(commit)
  commits.push([commit.slot.slot, Date.now()])
  feed.publish(commit)
}

/** Returns a block with the trades of the token by many wallets, after a sale that prices SOL. */
function blockAt(at: number): DecodedBlock {
  const priced = trade(USDC_SALE, 0)
  const events = [
    priced,
    ...Array.from({ length: perBlock }, (_, n) => trade(tokenLegs(at, n), at * perBlock + n))
  ]
  const blockTime = Math.floor(Date.now() / 1_000)
  return {
    ...{ slot: at, parentSlot: at - 1, blockTime, blockhash: null, receivedAtMs: Date.now() },
    ...{ commitment: 'confirmed', transactions: events.length },
    entries: events.map((event, txIndex) => ({
      signature: Uint8Array.from(
        { length: 64 },
        (_, byte) => (byte < 4 ? at >> (8 * byte) : txIndex >> (8 * (byte & 1))) & 255
      ),
      ...{ txIndex, feePayer: addressOf(4, txIndex), event }
    }))
  }
}

/** Returns a buy or a sale of the token for about a tenth of a SOL, at a price that moves. */
function tokenLegs(at: number, n: number): Legs {
  const lamports = 100_000_000n + BigInt((at * 7_919 + n * 104_729) % 50_000_000)
  const tokens = BigInt(Math.round(800_000_000 * (1 + 0.1 * Math.sin(at / 20 + n / perBlock))))
  const pool = addressOf(3, 1)
  return n % 3 === 0
    ? {
        inMint: mint,
        inDecimals: 6,
        inAmount: tokens,
        outMint: SOL,
        outDecimals: 9,
        outAmount: lamports,
        pool
      }
    : {
        inMint: SOL,
        inDecimals: 9,
        inAmount: lamports,
        outMint: mint,
        outDecimals: 6,
        outAmount: tokens,
        pool
      }
}

function trade(legs: Legs, wallet: number): Trade {
  return {
    ...{ kind: 'trade', venue: 'pumpswap', program: addressOf(2, 1), ixIndex: 2, innerIxIndex: null },
    ...{ user: addressOf(4, wallet % 5_000), ...legs, traderIn: legs.inAmount, traderOut: legs.outAmount },
    ...{ fees: [], reserves: null, exact: null, route: null }
  }
}
