import t, { type Test } from 'tap'
import { sharedFees } from '../../../actors/transactions/shared-fees.ts'
import type { BlockCommit } from '../../../src/market/records.ts'
import type { SlotRow } from '../../../src/market/rows.ts'
import { systemPorts, type Clock } from '../../../src/ports.ts'
import { BlockFees } from '../../../src/transactions/block-fees.ts'
import { decodeFees, encodeFees } from '../../../src/transactions/fee-digest.ts'
import { FEE_SLOTS, PriorityFees } from '../../../src/transactions/priority-fees.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import type { RedisConnection } from '../../../storage/redis/connection.ts'
import { RedisBlockDigests } from '../../../storage/redis/block-digests.ts'
import { testWithOwnRedis, testWithRedis } from '../../servers/redis.ts'
import { joinService } from '../../storage/redis-processes.ts'
import { until } from '../../until.ts'
import { settle, virtualClock } from '../../virtual-time.ts'

/** A block of one transaction, whose price is its slot. */
function feesOf(slot: number, fork = ''): BlockFees {
  const block = new BlockFees({ slot, blockhash: `${slot}${fork}`, transactions: 1, writes: 1 })
  block.prices[0] = slot
  block.ends[0] = 1
  return block
}

/** The store that both processes share: slots and blockhashes. */
class Stored {
  rows: SlotRow[] = []

  add(slot: number, fork = ''): BlockCommit {
    const row = { slot, blockhash: `${slot}${fork}` } as unknown as SlotRow
    this.rows.push(row)
    return { slot: row } as unknown as BlockCommit
  }

  async between(first: number, last: number): Promise<SlotRow[]> {
    return this.rows.filter(({ slot }) => slot >= first && slot <= last)
  }
}

/** A process of the service, which ends with the test. */
async function join(
  t: Test,
  redis: { readonly url: string; readonly prefix?: string },
  stored: Stored,
  publishes: boolean,
  clock: Clock = systemPorts.clock
) {
  const connection: RedisConnection = await joinService(t, redis)
  const feed = new CommitFeed()
  const fees = new PriorityFees()
  const draining = new AbortController()
  feed.jump(stored.rows.at(-1) ?? null)
  const run = sharedFees({ fees, feed, clock, publishes })
  const digests = new RedisBlockDigests(connection, FEE_SLOTS)
  let [reads, published] = [0, 0]
  const read = digests.read.bind(digests)
  digests.read = (slots) => {
    reads++
    return read(slots)
  }
  const put = digests.put.bind(digests)
  digests.put = async (...digest) => {
    await put(...digest)
    published++
  }
  const input = {
    storage: { blocks: stored },
    peers: { digests }
  }
  type Context = Parameters<typeof run>[0]
  const ended = run({ input, draining: draining.signal, ready: () => undefined } as unknown as Context)
  t.teardown(async () => {
    draining.abort()
    await ended
  })
  return { connection, feed, fees, reads: () => reads, published: () => published }
}

type Member = Awaited<ReturnType<typeof join>>

/** Commits a block in the process that ingests; the other process receives it by its feed. */
function ingest(stored: Stored, ingester: Member, others: readonly Member[], slot: number, fork = ''): void {
  const commit = stored.add(slot, fork)
  ingester.fees.add(feesOf(slot, fork))
  for (const { feed } of [ingester, ...others]) feed.publish(commit)
}

const slotsOf = ({ fees }: Member): number[] => fees.blocks.map(({ slot }) => slot)

testWithRedis(
  t,
  'a gateway that starts late has the window, follows it, and takes a fork back',
  async (t, redis) => {
    const stored = new Stored()
    const ingester = await join(t, redis, stored, true)
    for (let slot = 1; slot <= 200; slot++) ingest(stored, ingester, [], slot)
    await until(() => ingester.published() === FEE_SLOTS)
    const gateway = await join(t, redis, stored, false)
    await gateway.fees.upToDate()
    t.equal(gateway.fees.blocks.length, FEE_SLOTS, 'the first answer waits for them')
    t.match(gateway.fees.of([]), { samples: 150, slots: [51, 200], max: 200 })
    t.strictSame(gateway.fees.of([]), ingester.fees.of([]))
    ingest(stored, ingester, [gateway], 201)
    await until(() => gateway.fees.newest === 201)
    // The blocks after 198 were on a lost fork; one of them is replaced by another block.
    stored.rows = stored.rows.filter(({ slot }) => slot <= 198)
    ingester.fees.lost(198)
    for (const { feed } of [ingester, gateway]) feed.jump(stored.rows.at(-1)!)
    await until(() => gateway.fees.newest === 198)
    ingest(stored, ingester, [gateway], 200, ' of the other fork')
    await until(() => gateway.fees.newest === 200)
    t.equal(gateway.fees.blocks.at(-1)!.blockhash, '200 of the other fork')
    t.strictSame(slotsOf(gateway), slotsOf(ingester))
  }
)

testWithRedis(t, 'a digest of a block that is not the stored one is not taken', async (t, redis) => {
  const stored = new Stored()
  const gateway = await join(t, redis, stored, false)
  const digests = new RedisBlockDigests(gateway.connection, FEE_SLOTS)
  await digests.put(5, encodeFees(feesOf(5, ' of a lost fork')))
  await digests.put(6, Buffer.from('no digest'))
  await digests.put(7, encodeFees(feesOf(7)))
  for (const slot of [5, 6, 7]) gateway.feed.publish(stored.add(slot))
  await gateway.fees.upToDate()
  t.strictSame(slotsOf(gateway), [7])
})

testWithOwnRedis(
  t,
  'while Redis is away the window stays, and it goes on when an empty one is back',
  async (t, redis) => {
    const stored = new Stored()
    const ingester = await join(t, redis, stored, true)
    const gateway = await join(t, redis, stored, false)
    await gateway.fees.upToDate()
    for (const slot of [1, 2, 3]) ingest(stored, ingester, [gateway], slot)
    await until(() => gateway.fees.blocks.length === 3)
    await redis.kill()
    await until(() => !gateway.connection.available && !ingester.connection.available)
    for (const slot of [4, 5]) ingest(stored, ingester, [gateway], slot)
    await gateway.fees.upToDate()
    t.match(gateway.fees.of([]), { samples: 3, slots: [1, 3] }, 'its slots tell how old it is')
    await redis.start()
    // The newest come first.
    await until(() => gateway.fees.blocks.length === 5)
    t.strictSame(slotsOf(gateway), [1, 2, 3, 4, 5])
    const late = await join(t, redis, stored, false)
    await late.fees.upToDate()
    await until(() => late.fees.blocks.length === 5)
    t.strictSame(late.fees.of([]), ingester.fees.of([]), 'what Redis had lost is there again')
  }
)

testWithRedis(t, 'a gateway reads digests only while fees are requested', async (t, redis) => {
  const stored = new Stored()
  const clock = virtualClock()
  const ingester = await join(t, redis, stored, true)
  const gateway = await join(t, redis, stored, false, clock)
  const wake = async (): Promise<void> => {
    clock.increment(60_000)
    await settle()
  }
  const ask = async (): Promise<void> => {
    const asked = gateway.fees.upToDate()
    await asked
  }
  for (const slot of [1, 2, 3]) ingest(stored, ingester, [gateway], slot)
  await until(() => ingester.published() === 3)
  await wake()
  t.strictSame([gateway.reads(), slotsOf(gateway)], [0, []], 'nothing is read before the first request')
  await ask()
  t.strictSame(slotsOf(gateway), [1, 2, 3])
  ingest(stored, ingester, [gateway], 4)
  await until(() => ingester.published() === 4)
  await until(() => {
    clock.increment(200)
    return gateway.fees.newest === 4
  })
  await wake()
  const reads = gateway.reads()
  for (const slot of [5, 6]) ingest(stored, ingester, [gateway], slot)
  await until(() => ingester.published() === 6)
  await wake()
  t.strictSame(
    [gateway.reads(), slotsOf(gateway)],
    [reads, [1, 2, 3, 4]],
    'nothing is read a minute after the last request'
  )
  await ask()
  t.strictSame(slotsOf(gateway), [1, 2, 3, 4, 5, 6])
})

void t.test('a digest is read as it was written, and nothing else is read', (t) => {
  const block = feesOf(7)
  block.low[0] = 0xfedcba98
  block.high[0] = 0xffff
  const digest = encodeFees(block)
  const read = decodeFees(digest)!
  t.strictSame([read.slot, read.blockhash, read.bytes], [7, '7', block.bytes])
  t.equal(
    decodeFees(encodeFees(new BlockFees({ slot: 1, blockhash: null, transactions: 0, writes: 0 })))
      ?.blockhash,
    null
  )
  for (let length = 0; length < digest.length; length++) t.equal(decodeFees(digest.subarray(0, length)), null)
  const changed = (change: (block: BlockFees) => void): unknown => {
    const other = feesOf(7)
    change(other)
    return decodeFees(encodeFees(other))
  }
  t.equal(
    changed(({ prices }) => void (prices[0] = -1)),
    null
  )
  t.equal(
    changed(({ prices }) => void (prices[0] = NaN)),
    null
  )
  t.equal(
    changed(({ ends }) => void (ends[0] = 2)),
    null
  )
  digest.writeUInt32LE(2, 0)
  t.equal(decodeFees(digest), null, 'another version')
  t.end()
})
