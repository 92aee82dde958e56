import t from 'tap'
import { forTenant } from '../../src/kernel/work/current-tenant.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import type { ScyllaBase } from '../../storage/scylla/base.ts'
import { candleTable } from '../../storage/scylla/candles.ts'
import { sampleBytes } from '../../storage/test/choices.ts'

const [mint, other, cash] = [sampleBytes(32, 1), sampleBytes(32, 2), sampleBytes(32, 3)]

/** A store of empty tables that counts its reads, and answers them when it is told to. */
class EmptyTables {
  reads = 0
  readonly visibility = { snapshot: { epoch: 1, lastCommit: 1 } }
  #answer = Promise.withResolvers<void>()
  readonly client = {
    read: async () => {
      this.reads++
      await this.#answer.promise
      return []
    }
  }

  /** Reads the candles of a minute of each interval. */
  readonly candles = candleTable(this as unknown as ScyllaBase)

  ofEachInterval(mint: Uint8Array): Promise<unknown[]> {
    return Promise.all(INTERVALS.map((interval) => this.candles.port.get({ mint, cash, interval, ts: 60 })))
  }

  answer(): void {
    this.#answer.resolve()
    this.#answer = Promise.withResolvers()
  }
}

t.test('a fold reads the newest candles of a pair once for all intervals', async (t) => {
  const tables = new EmptyTables()
  const found = [tables.ofEachInterval(mint), tables.ofEachInterval(other)]
  t.equal(tables.reads, 2)
  tables.answer()
  t.strictSame(new Set((await Promise.all(found)).flat()), new Set([null]))
  const later = tables.ofEachInterval(mint)
  t.equal(tables.reads, 3, 'an answer is not cached')
  tables.answer()
  await later
})

t.test('reads at another snapshot are reads of their own', async (t) => {
  const tables = new EmptyTables()
  const before = tables.candles.port.get({ mint, cash, interval: '1m', ts: 60 })
  tables.visibility.snapshot = { epoch: 1, lastCommit: 2 }
  const after = tables.ofEachInterval(mint)
  t.equal(tables.reads, 2)
  tables.answer()
  await after
  // The first is read again, because a flush came between.
  t.equal(tables.reads, 3)
  tables.answer()
  t.equal(await before, null)
})

t.test('a read of a tenant waits for no other', async (t) => {
  const tables = new EmptyTables()
  const fold = tables.ofEachInterval(mint)
  const read = forTenant('one', () => tables.candles.port.get({ mint, cash, interval: '1m', ts: 60 }))
  const another = forTenant('two', () => tables.candles.port.get({ mint, cash, interval: '1m', ts: 60 }))
  t.equal(tables.reads, 3)
  tables.answer()
  t.strictSame(await Promise.all([read, another]), [null, null])
  await fold
})
