import fc from 'fast-check'
import t, { type Test } from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { LedgerStore } from '../../storage/port.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import { LedgerReader } from '../../src/revenue/ledger-reader.ts'
import { NO_SUMS, plus, sumsOf, type MintSums } from '../../src/revenue/sums.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import { entry, signatureOf, storeLedger, type LedgerBlock } from './revenue-client.ts'
import { key, NOON } from '../market/world.ts'
import { ownDirectory } from '../own-directory.ts'
import { randomRuns } from '../random-runs.ts'

const watchedFrom = (address: string, slot: number): WatchedAddress => ({
  ...{ tenant: 'acme', address, slot: 0, label: '', role: 'other', createdAtMs: 0 },
  captureFrom: { slot, ts: NOON }
})

async function store(t: Test) {
  const storage = await openEmbeddedStorage({ directory: ownDirectory(t), hotBytesMax: 2 ** 24 })
  t.teardown(() => storage.close())
  return storage
}

const mintOf = (n: number): string => (n === 0 ? WSOL : pubkeyToBase58(key(50_000 + n)))

/** Adds up the sums of blocks from their entries alone. */
function folded(blocks: readonly LedgerBlock[]): Map<string, MintSums['sums']> {
  const totals = new Map<string, MintSums['sums']>()
  for (const { mint, sums } of blocks.flatMap(({ entries }) => sumsOf('', entries)))
    totals.set(mint, plus(totals.get(mint) ?? NO_SUMS, sums))
  return totals
}

/** Mints of each block. Some occur in many blocks, and some in one. */
const ledgers = fc.array(
  fc.uniqueArray(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 400 })), {
    minLength: 1,
    maxLength: 40
  }),
  { minLength: 1, maxLength: 50 }
)

t.test('the sums of any window are those of its blocks', async (t) => {
  const storage = await store(t)
  const reader = new LedgerReader(storage)
  let run = 0
  await fc.assert(
    fc.asyncProperty(ledgers, fc.nat(60), fc.nat(60), fc.nat(60), async (mints, start, from, length) => {
      const address = pubkeyToBase58(key(70_000 + run++))
      const blocks = mints.map((ofBlock, slot) => ({
        slot,
        entries: ofBlock.map((n, txIndex) =>
          entry({ mint: mintOf(n), txIndex, signature: signatureOf(txIndex), post: BigInt(slot * 7 + n) })
        )
      }))
      await storeLedger(storage, address, blocks)
      const until = from + length
      const inside = blocks.filter(({ slot }) => slot >= Math.max(start, from) && slot <= until)
      const found = await reader.sums(watchedFrom(address, start), { from, until })
      const expected = folded(inside)
      t.strictSame(found.all, expected.get('') ?? NO_SUMS)
      expected.delete('')
      t.strictSame(new Map(found.byMint.map(({ mint, sums }) => [mint, sums])), expected)
      t.equal(found.byMint.length, expected.size, 'each mint once')
      t.equal(found.lastAt, inside.length === 0 ? null : NOON + inside.at(-1)!.slot)
    }),
    randomRuns(25)
  )
})

t.test('an address with many mints is summed up in few reads', async (t) => {
  const { documents, ledger } = await store(t)
  const mints = Array.from({ length: 3_000 }, (_, n) => n + 1)
  const entries = mints.map((n) => entry({ mint: mintOf(n), txIndex: n, signature: signatureOf(n) }))
  const address = mintOf(1)
  await storeLedger({ documents, ledger }, address, [{ slot: 3, entries }])
  let reads = 0
  const counting = new Proxy(ledger, {
    get(store, name: keyof LedgerStore) {
      reads++
      return store[name].bind(store) as unknown
    }
  })
  const found = await new LedgerReader({ documents, ledger: counting }).sums(watchedFrom(address, 1), {
    from: 0
  })
  t.equal(found.byMint.length, mints.length)
  t.ok(reads < 4, `${reads} reads`)
})
