/** Opens the store of a directory and prints the outcome of every kind of read, one line of JSON each. */
import { createHash } from 'node:crypto'
import { ServiceError } from '../../src/kernel/errors.ts'
import { MARKET } from '../../src/market/activity.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import { logChannelCodes } from '../../storage/codec/codes.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { storedKeys, storedTenants } from '../../storage/test/sample-access.ts'
import {
  SAMPLE_CASHES,
  SAMPLE_MINTS,
  SAMPLE_POOLS,
  SAMPLE_WALLETS,
  sampleCash,
  sampleMint,
  samplePool,
  sampleWallet,
  slotAt,
  timeAt
} from '../../storage/test/sample-addresses.ts'

const [directory, blocks] = [process.argv[2]!, Number(process.argv[3])]
const HOUR = 3_600

/** Prints a digest of a read's result, or its error. */
async function tell(read: string, ask: () => Promise<unknown>): Promise<void> {
  console.log(JSON.stringify({ read, ...(await outcome(ask)) }))
}

async function outcome(ask: () => Promise<unknown>): Promise<{ value?: string; error?: string }> {
  try {
    const text = JSON.stringify(await ask(), (_, value: unknown) =>
      typeof value === 'bigint'
        ? `${value}n`
        : value instanceof Uint8Array
          ? Buffer.from(value).toString('hex')
          : value
    )
    return { value: createHash('sha256').update(text).digest('hex') }
  } catch (error) {
    if (error instanceof ServiceError) return { error: error.detail }
    throw error
  }
}

try {
  const storage = await openEmbeddedStorage({ directory })
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)
  await tell('head', () => storage.blocks.head())
  await tell('first', () => storage.blocks.firstSince(timeAt(blocks >> 1)))
  await tell('totals', () => storage.totals.get())
  await tell('tenants', () => storedTenants(storage))
  await tell('keys', () => storedKeys(storage))
  await tell('gaps', () => storage.coverage.gaps({ after: null, limit: 100 }))
  for (const n of numbers(blocks)) await tell(`slot ${n}`, () => storage.blocks.at(slotAt(n)))
  for (const order of ['asc', 'desc'] as const) {
    for (const limit of [1, 40, 1_000]) {
      const page = { order, limit }
      for (const n of numbers(SAMPLE_MINTS))
        await tell(`trades ${n} ${order} ${limit}`, () => storage.trades.ofMint(sampleMint(n), page))
      for (const n of numbers(SAMPLE_WALLETS))
        await tell(`wallet ${n} ${order} ${limit}`, () => storage.trades.ofWallet(sampleWallet(n), page))
      for (const n of numbers(SAMPLE_POOLS))
        await tell(`events ${n} ${order} ${limit}`, () => storage.poolEvents.ofPool(samplePool(n), page))
      await tell(`launches ${order} ${limit}`, () => storage.launches.page(page))
      await tell(`graduated ${order} ${limit}`, () => storage.launches.page({ ...page, status: 'graduated' }))
      await tell(`offset ${order} ${limit}`, () => storage.launches.page({ ...page, offset: 3 }))
    }
  }
  for (const n of numbers(SAMPLE_MINTS)) {
    const mint = sampleMint(n)
    await tell(`pairs ${n}`, () => storage.pairs.ofMint(mint))
    await tell(`token ${n}`, () => storage.tokens.get(mint))
    await tell(`curve ${n}`, () => storage.curves.get(mint))
    await tell(`launch ${n}`, () => storage.launches.get(mint))
    await tell(`pools ${n}`, () => storage.pools.ofMint(mint, { order: 'asc', limit: 10 }))
    const hours = { from: 0, to: timeAt(blocks) + HOUR, limit: 1_000 }
    await tell(`hours ${n}`, () => storage.activity.range('mint', mint, hours))
    for (const c of numbers(SAMPLE_CASHES))
      for (const interval of INTERVALS)
        await tell(`candles ${n} ${c} ${interval}`, () =>
          storage.candles.range(mint, sampleCash(c), interval, { from: 0, to: 2 ** 32, limit: 1_000 })
        )
  }
  for (let at = timeAt(0); at < timeAt(blocks); at += HOUR) {
    const hour = at - (at % HOUR)
    await tell(`market ${hour}`, () => storage.activity.get({ of: 'market', owner: MARKET, hour }))
    await tell(`ranking ${hour}`, () => storage.activity.mintsOfHour(hour, { limit: 100 }))
    await tell(`sol ${at}`, () => storage.solPrices.atOrBefore(at - (at % 60)))
  }
  for (const channel of logChannelCodes.words)
    await tell(`log ${channel}`, () => storage.log.read(channel, { limit: 1_000 }))
  await tell('history', () => storage.history.after(null, 1_000))
  await storage.close()
} catch (error) {
  if (!(error instanceof ServiceError)) throw error
  console.log(JSON.stringify({ read: 'open', error: error.detail }))
}
