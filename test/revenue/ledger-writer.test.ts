import t from 'tap'
import { LedgerReader } from '../../src/revenue/ledger-reader.ts'
import { LedgerWriter } from '../../src/revenue/ledger-writer.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { entry, ALICE, signatureOf } from '../http/revenue-client.ts'

t.test(
  'a block that is stored again with other prices keeps its entries, and its sums are theirs',
  async (t) => {
    const storage = await openEmbeddedStorage({ directory: t.testdir() })
    t.teardown(() => storage.close())
    const writer = new LedgerWriter(storage.documents)
    // More entries than a piece has.
    const part = (valueUsd: number) => ({
      address: ALICE,
      slot: 5,
      blockTime: 1,
      blockhash: null,
      entries: Array.from({ length: 45 }, (_, n) =>
        entry({ signature: signatureOf(n), txIndex: n, valueUsd })
      )
    })
    const first = await writer.put(part(2))
    const again = await writer.put(part(3))
    t.strictSame(again, first)
    const watched = {
      tenant: 'acme',
      address: ALICE,
      slot: 0,
      label: '',
      role: 'other',
      createdAtMs: 0,
      captureFrom: { slot: 1, ts: 0 }
    }
    const { all } = await new LedgerReader(storage.documents).sums(watched, { from: 0 })
    t.match(all, { entries: 45, inflowMicroUsd: 90_000_000n })
  }
)
