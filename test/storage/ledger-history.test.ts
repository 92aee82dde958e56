import t, { type Test } from 'tap'
import { ALL_MINTS } from '../../src/revenue/ledger-document.ts'
import { ledgerProgressIn } from '../../src/revenue/ledger-progress.ts'
import { LedgerReader } from '../../src/revenue/ledger-reader.ts'
import { plus, sumsOf, NO_SUMS } from '../../src/revenue/sums.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import { systemPorts } from '../../src/ports.ts'
import { Choices } from '../../storage/test/choices.ts'
import type { OpenForTest } from '../../storage/test/under-test.ts'
import { DyingStorage } from '../followers/dying-storage.ts'
import { TokenTraffic } from '../followers/token-traffic.ts'
import { openBank, produce } from '../localnet/bank/sending.ts'
import { changesOf, jobIn, nodeOf, placed, startBackfill, TENANT } from '../revenue/history-world.ts'
import { testWithCql } from '../servers/cql.ts'
import { until } from '../service/asking.ts'
import { openForTest } from './embedded-under-test.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

const SLOTS = 15
/** Later than any slot that the node finalizes. */
const END = 10_000

/** Reads the history of an address into a store, through a kill, and compares it with the chain. */
async function testHistory(t: Test, open: OpenForTest): Promise<void> {
  const { storage } = await open(t)
  const bank = await openBank({ seed: 'a history' })
  const traffic = await TokenTraffic.open(bank, new Choices(71))
  for (let slot = 0; slot < SLOTS; slot++) {
    traffic.send(4)
    await bank.produceSlot()
  }
  const head = bank.slot('processed')
  await produce(bank, 40)
  const address = traffic.wallets[1]!.toBase58()
  const watches = new WatchedAddresses(storage.documents)
  const since = { slot: 0, ts: null }
  await watches.watch(TENANT, { address, label: 'a', role: 'other', since }, systemPorts.clock.now())
  const [fresh] = await watches.all()
  await watches.begin(fresh!, { slot: head + 1, ts: 1 })
  const { save } = await ledgerProgressIn(storage.documents).claim(1)
  await save({ slot: END, blockhash: null, blockTime: 1, holes: [] })
  const { node } = await nodeOf(t, bank)

  const dying = new DyingStorage()
  const killed = startBackfill(node, { ...storage, ...dying.of(storage) })
  dying.dieAtWrite(20, 'after')
  await until(async () => dying.isDead, 'a death')
  await killed.stop()
  const running = startBackfill(node, storage)
  t.teardown(() => running.stop())
  await until(async () => (await jobIn(storage, address))?.phase === 'done', 'the whole history')

  const watched = await watches.get(TENANT, address)
  const reader = new LedgerReader(storage)
  const page = { from: 0, order: 'asc', after: null, limit: 10_000 } as const
  const rows = await reader.rows([watched], page)
  t.ok(rows.length > 4, `${rows.length} rows`)
  t.strictSame(rows.map(placed), changesOf(bank, address, 0, head))
  const reversed = await reader.rows([watched], { ...page, order: 'desc' })
  t.strictSame(reversed.toReversed(), rows)
  const expected = [...Map.groupBy(rows, ({ slot }) => slot).values()]
    .flatMap((block) => sumsOf(address, block))
    .filter(({ mint }) => mint === ALL_MINTS)
    .reduce((sum, { sums }) => plus(sum, sums), NO_SUMS)
  t.strictSame((await reader.sums(watched, { from: 0 })).all, expected)
}

t.test('the history of an address in the embedded store', (t) =>
  testHistory(t, openForTest(t.testdir(), 2 ** 20))
)
testWithCql(t, 'the history of an address on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  await testHistory(t, (t) => under.open(t))
})
