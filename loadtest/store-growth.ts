/**
 * Measures what a block costs a service on stores of several sizes: the processor time of a service with the default memory,
 * while blocks arrive at mainnet's live rate and nobody requests anything. The stores take turns. Each store's market has its
 * own number of mints, pools and wallets, which grows with its trades.
 *
 *     node loadtest/store-growth.ts DIRECTORY [--trades=200000,2000000] [--seconds=40] [--rounds=3]
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { marketOf } from './market/population.ts'
import { ensureMarketStore, type MarketStore } from './market-store.ts'
import { reported, writeResult } from './result.ts'
import { ranked, serveMarket } from './served-market.ts'
import { workingCopy } from './working-copy.ts'
import { median } from './median.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    trades: { type: 'string', default: '200000,2000000' },
    seconds: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '3' }
  }
})
const [directory] = positionals
if (directory === undefined) throw new Error('missing argument DIRECTORY: where to build the stores')
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
/** Seconds in which the caches of a new process fill and its code is compiled. */
const WARM_UP_SECONDS = 30
/** The bar: the cost on the largest store, against that on the smallest. */
const RATIO_MAX = 1.1

interface Store extends MarketStore {
  readonly directory: string
}

const stores: Store[] = []
for (const trades of values.trades.split(',')) {
  const place = join(directory, trades)
  const built = await ensureMarketStore(place, marketOf(Number(trades)), (line) => console.error(line))
  stores.push({ ...built, directory: place })
}

interface Cost {
  readonly cpu_ms_a_block: number
  readonly blocks: number
  readonly resident_mib: number
}

/** Runs a service on a copy of a store. */
async function costOn(store: Store): Promise<Cost> {
  const copy = workingCopy(store.directory)
  const service = await serveMarket(copy, 'live', store.directory)
  const headSlot = async (): Promise<number> =>
    ((await (await fetch(`${service.url}/v1/health`)).json()) as { readonly slot: number }).slot
  try {
    await ranked(service)
    await delay(WARM_UP_SECONDS * 1_000)
    const [slot, cpuMs] = [await headSlot(), service.cpuMs()]
    await delay(seconds * 1_000)
    const [blocks, spentMs] = [(await headSlot()) - slot, service.cpuMs() - cpuMs]
    return { cpu_ms_a_block: spentMs / blocks, blocks, resident_mib: service.rssMib() }
  } finally {
    await service.end()
    rmSync(copy, { recursive: true, force: true })
  }
}

const costs = new Map(stores.map((store): [Store, Cost[]] => [store, []]))
for (let round = 0; round < rounds; round++)
  for (const store of stores)
    costs.get(store)!.push(reported(`${store.size.trades} trades`, await costOn(store)))
const sizes = stores.map((store) => ({
  ...{ trades: store.size.trades, mints: store.size.mints, store_bytes: store.bytes },
  cpu_ms_a_block: median(costs.get(store)!.map((cost) => cost.cpu_ms_a_block)),
  rounds: costs.get(store)!
}))
const ratio = sizes.at(-1)!.cpu_ms_a_block / sizes[0]!.cpu_ms_a_block
await writeResult('store-growth', {
  bar: `the cost of a block on the largest store at most ${RATIO_MAX} × that on the smallest`,
  ...{ seconds, sizes, ratio, reached: ratio <= RATIO_MAX }
})
