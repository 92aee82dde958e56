import t from 'tap'
import type { TradeRow } from '../../src/market/rows.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { archiveConformance } from '../../storage/test/conformance.ts'
import { SAMPLE_WALLETS, sampleWallet } from '../../storage/test/sample-addresses.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { ALL } from '../../storage/test/under-test.ts'
import { samePubkey } from '../../src/chain/pubkey.ts'
import { testWithCql } from '../servers/cql.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

testWithCql(t, 'the store of an archive on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server, { isArchive: true, flushBlocks: 4 })
  t.teardown(() => under.end())

  t.test('keeps the promises of the port', async (t) => archiveConformance(t, (t) => under.open(t)))

  t.test('has each trade once, and continues a keyspace of an earlier version', async (t) => {
    await under.clear()
    const blocks = Array.from({ length: 40 }, (_, index) => sampleBlock(5, index))
    const { isArchive: _, ...plain } = under.options
    const earlier = await openScyllaStorage({ ...plain, isArchive: false })
    await earlier.blocks.commitAll([blocks.slice(0, 12)])
    await earlier.close()
    const storage = await openScyllaStorage(under.options)
    await storage.blocks.commitAll([blocks.slice(12, 26), blocks.slice(26)], blocks[11]!.slot.slot)
    await storage.close()

    const all = blocks.flatMap(({ trades }) => trades)
    const isSecond = (row: TradeRow): boolean => row.cashSide === null && !samePubkey(row.mint, row.inMint)
    const made = all.filter((row) => !isSecond(row))
    const rows = await under.rows('SELECT cursor FROM trades_by_wallet')
    const references = await under.rows('SELECT cursor, row FROM references_by_wallet')
    t.equal(rows.length + references.length, made.length)
    t.ok(rows.length > 5 && references.length > 20)
    t.ok(
      references.every((row) => (row['row'] as Buffer).length === 37),
      'an address and a checksum'
    )

    // Any process finds the wallets by itself.
    for (const options of [under.options, plain]) {
      const reader = await openScyllaStorage(options)
      for (let n = 0; n < SAMPLE_WALLETS; n++) {
        const wallet = sampleWallet(n)
        const own = made.filter((row) => samePubkey(row.user, wallet))
        t.strictSame(await reader.trades.ofWallet(wallet, ALL), own)
        for (const limit of [1, 3, own.length])
          for (const at of [0, Math.floor(own.length / 2)]) {
            const from = own.toReversed()[at]?.cursor ?? 0
            t.strictSame(
              await reader.trades.ofWallet(wallet, { order: 'desc', from, limit }),
              own.toReversed().slice(at + 1, at + 1 + limit)
            )
          }
      }
      await reader.close()
    }

    await under.forget('trades_by_mint')
    const damaged = await openScyllaStorage(under.options)
    t.teardown(() => damaged.close())
    const wallet = made.at(-1)!.user
    await t.rejects(
      damaged.trades.ofWallet(wallet, { order: 'desc', limit: 1 }),
      /the trade of a wallet at cursor \d+ is missing/,
      'an error, not a shorter page'
    )
  })
})
