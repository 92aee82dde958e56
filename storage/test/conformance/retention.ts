import type { Test } from 'tap'
import type { Storage } from '../../port.ts'
import {
  SAMPLE_MINTS,
  SAMPLE_POOLS,
  SAMPLE_WALLETS,
  sampleCash,
  sampleMint,
  samplePool,
  sampleWallet,
  timeAt
} from '../sample-addresses.ts'
import { emptyBlock, sampleBlock } from '../sample-blocks.ts'
import { ALL, type OpenForTest } from '../under-test.ts'

/** The shortest that every adapter takes. */
const RETENTION_SECONDS = 1_200
const BLOCKS = 30

const each = <T>(count: number, of: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => of(n)))

const rowsOf = async (storage: Storage): Promise<{ readonly cursor: number }[][]> => [
  ...(await each(SAMPLE_MINTS, (n) => storage.trades.ofMint(sampleMint(n), ALL))),
  ...(await each(SAMPLE_WALLETS, (n) => storage.trades.ofWallet(sampleWallet(n), ALL))),
  ...(await each(SAMPLE_POOLS, (n) => storage.poolEvents.ofPool(samplePool(n), ALL)))
]

const factsOf = async (storage: Storage): Promise<unknown[]> => [
  await storage.totals.get(),
  await storage.blocks.firstSince(0),
  ...(await each(SAMPLE_MINTS, (n) => storage.tokens.get(sampleMint(n)))),
  ...(await each(SAMPLE_MINTS, (n) =>
    storage.candles.range(sampleMint(n), sampleCash(0), '1m', { from: 0, to: 2 ** 32 - 1, limit: 1_000 })
  ))
]

export async function testRetention(t: Test, open: OpenForTest): Promise<void> {
  t.test('a retention keeps all rows from its horizon on, and all that is no row', async (t) => {
    const under = await open(t)
    for (let index = 0; index < BLOCKS; index++) await under.storage.blocks.commit(sampleBlock(9, index))
    const head = emptyBlock(BLOCKS)
    const blockTime = timeAt(BLOCKS / 2) + RETENTION_SECONDS
    await under.storage.blocks.commit({ ...head, slot: { ...head.slot, blockTime } })
    t.equal(await under.storage.coverage.horizon(), null, 'a store that keeps all has none')
    const [rows, facts] = [await rowsOf(under.storage), await factsOf(under.storage)]

    const storage = await under.reopen(RETENTION_SECONDS)
    while (await storage.sweeper?.step());
    const horizon = (await storage.coverage.horizon())!
    t.ok(horizon.time >= timeAt(BLOCKS / 2))
    for (const [i, found] of (await rowsOf(storage)).entries()) {
      const kept = ({ cursor }: { readonly cursor: number }): boolean => cursor >= horizon.cursor
      t.strictSame(found.filter(kept), rows[i]!.filter(kept))
      // A cluster may still have rows below.
      if (storage.sweeper !== null) t.ok(found.every(kept))
    }
    t.strictSame(await factsOf(storage), facts)
    const reopened = await under.reopen(RETENTION_SECONDS)
    t.ok((await reopened.coverage.horizon())!.cursor >= horizon.cursor, 'a horizon never goes back')
  })
}
