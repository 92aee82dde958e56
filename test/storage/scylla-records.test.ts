import t from 'tap'

import type { Pubkey } from '../../src/chain/pubkey.ts'
import { addressKey, mintPoolKey } from '../../storage/codec/keys.ts'
import type { RecordKind } from '../../storage/codec/record.ts'
import { AddressRecords, addressIn } from '../../storage/scylla/address-records.ts'
import type { ScyllaBase } from '../../storage/scylla/base.ts'
import { BucketedRecords } from '../../storage/scylla/bucketed-records.ts'
import { blob } from '../../storage/scylla/client.ts'
import type { Commit } from '../../storage/scylla/commit.ts'
import { RecordTable } from '../../storage/scylla/records.ts'
import { sampleBytes } from '../../storage/test/choices.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { testWithCql } from '../servers/cql.ts'
import { newKeyspace, watched, Watermarks } from './scylla-writers.ts'

const numberKind: RecordKind<number> = {
  name: 'number',
  write: (out, value) => out.count(value),
  read: (source) => source.count(),
  weigh: () => 8
}

const numbersOf = (base: ScyllaBase): AddressRecords<number> =>
  new AddressRecords(base, {
    table: 'tokens',
    column: 'mint',
    kind: numberKind,
    storeKey: (mint) => addressKey('m', mint)
  })

interface Numbered {
  readonly mint: Pubkey
  readonly at: number
}

const listOf = (base: ScyllaBase): RecordTable<Numbered, number> =>
  new RecordTable<Numbered, number>(base, {
    table: 'pools_by_mint',
    partition: ['mint'],
    clustering: ['first_cursor'],
    kind: numberKind,
    values: ({ mint, at }) => [blob(mint), BigInt(at)],
    storeKey: ({ mint, at }) => mintPoolKey(mint, at),
    keyOf: (row) => ({ mint: addressIn(row, 'mint'), at: Number(row['first_cursor']) })
  })

const PER_BUCKET = 100
const bucketsOf = (base: ScyllaBase): BucketedRecords<number> =>
  new BucketedRecords(base, {
    table: 'activity',
    position: 'hour',
    positionBytes: 8,
    positionsPerBucket: PER_BUCKET,
    kind: numberKind,
    expires: true
  })

const putting =
  (base: ScyllaBase, key: Pubkey, value: number) =>
  (commit: Commit): Promise<void> =>
    numbersOf(base).stage(commit, [{ key, value }])

testWithCql(t, 'records in two versions on a CQL server', async (t, server) => {
  const client = await (await newKeyspace(t, server)).connect()
  let keys = 90_000
  const newKey = (): Pubkey => sampleBytes(32, keys++)

  t.test('a value counts once its commit is visible, and the one before until then', async (t) => {
    const watermarks = new Watermarks(client)
    const writer = watermarks.claim()
    const key = newKey()
    const seen = () => numbersOf(watermarks.process()).get(key)
    const first = await writer.written(emptyBlock(0), putting(writer.base, key, 1))
    t.equal(await seen(), null, 'the first is written and not visible')
    writer.publish(first)
    t.equal(await seen(), 1)
    const second = await writer.written(emptyBlock(1), putting(writer.base, key, 2))
    t.equal(await seen(), 1, 'the second is in front, the first is behind it')
    t.strictSame(await numbersOf(watermarks.process()).getMany([key, newKey()]), [1, null])
    writer.publish(second)
    t.equal(await seen(), 2)
  })

  t.test('what a writer left that died before its watermark is never seen, and is replaced', async (t) => {
    const watermarks = new Watermarks(client)
    const [key, fresh] = [newKey(), newKey()]
    const dead = watermarks.claim()
    await dead.committed(emptyBlock(0), putting(dead.base, key, 1))
    await dead.written(emptyBlock(1), async (commit) => {
      await numbersOf(dead.base).stage(
        commit,
        [key, fresh].map((key) => ({ key, value: 666 }))
      )
    })
    const writer = watermarks.claim()
    const seen = () => numbersOf(watermarks.process()).getMany([key, fresh])
    t.strictSame(await seen(), [1, null])
    await writer.committed(emptyBlock(1), async (commit) => {
      const replaced = await numbersOf(writer.base).committed(commit, [key, fresh])
      t.strictSame(replaced, [1, null], 'the next writer goes on from what was committed')
    })
    t.strictSame(await seen(), [1, null], 'also once its number is visible, under another epoch')
    const next = await writer.written(emptyBlock(2), async (commit) => {
      await numbersOf(writer.base).stage(
        commit,
        [key, fresh].map((key, i) => ({ key, value: 7 + i }))
      )
    })
    t.strictSame(await seen(), [1, null])
    writer.publish(next)
    t.strictSame(await seen(), [7, 8])
  })

  t.test('a writer that lost its claim and writes later wins over nobody', async (t) => {
    const watermarks = new Watermarks(client)
    // Several records, so that none depends on how a server chooses between writes with equal timestamps.
    const keys = Array.from({ length: 8 }, newKey)
    const fresh = newKey()
    const puttingAll = (base: ScyllaBase, keys: readonly Pubkey[], value: number) => (commit: Commit) =>
      numbersOf(base).stage(
        commit,
        keys.map((key) => ({ key, value }))
      )
    const stale = watermarks.claim()
    await stale.committed(emptyBlock(0), puttingAll(stale.base, keys, 1))
    const late = await stale.staged(emptyBlock(1), puttingAll(stale.base, [...keys, fresh], 666))
    const writer = watermarks.claim()
    await writer.committed(emptyBlock(1), puttingAll(writer.base, keys, 2))
    await stale.send(late)
    const seen = async () => {
      const values = await numbersOf(watermarks.process()).getMany([...keys, fresh])
      return [...new Set(values)]
    }
    t.strictSame(await seen(), [2, null])
    const epochs = await Promise.all([...keys, fresh].map(epochOf))
    t.strictSame([...new Set(epochs)], [2, 1], 'it is there of the record that nobody replaced, unseen')
    t.throws(() => stale.publish(late), /another process/)
    await writer.committed(emptyBlock(2), puttingAll(writer.base, [fresh], 2))
    t.strictSame(await seen(), [2])
  })

  t.test(
    'a reader that is commits behind sees its own version or asks, and no value in between',
    async (t) => {
      const watermarks = new Watermarks(client)
      const writer = watermarks.claim()
      const key = newKey()
      await writer.committed(emptyBlock(0), putting(writer.base, key, 1))
      const reader = watermarks.process()
      await writer.committed(emptyBlock(1), putting(writer.base, key, 2))
      t.equal(await numbersOf(reader).get(key), 1, 'one commit behind: the version of then')
      t.equal(watermarks.refreshes, 0)
      await writer.written(emptyBlock(2), putting(writer.base, key, 3))
      t.equal(await numbersOf(reader).get(key), 2, 'two are written since, of which one is visible')
      t.equal(watermarks.refreshes, 1)
      t.equal(await numbersOf(reader).get(key), 2)
      t.equal(watermarks.refreshes, 1, 'it has learnt')
    }
  )

  t.test('the writer reads what it replaces once, and again what a claim made it forget', async (t) => {
    const watermarks = new Watermarks(client)
    const base = watermarks.process()
    const key = newKey()
    let reads = 0
    const counting = watched(base, (method) => void (method === 'readEachThrough' && reads++))
    const first = watermarks.claim(counting)
    for (const index of [0, 1, 2]) await first.committed(emptyBlock(index), putting(counting, key, index))
    t.equal(reads, 1)
    const other = watermarks.claim()
    await other.committed(emptyBlock(3), putting(other.base, key, 33))
    const again = watermarks.claim(counting)
    const commit = await again.written(emptyBlock(4), putting(counting, key, 44))
    t.equal(reads, 2)
    t.equal(await numbersOf(watermarks.process()).get(key), 33, "the other's value is behind")
    again.publish(commit)
    t.equal(await numbersOf(watermarks.process()).get(key), 44)
  })

  t.test('a range counts visible records alone, however many of a dead writer lie between', async (t) => {
    const watermarks = new Watermarks(client)
    const mint = newKey()
    const writer = watermarks.claim()
    const put = (base: ScyllaBase, at: readonly number[]) => (commit: Commit) =>
      listOf(base).stage(
        commit,
        at.map((at) => ({ key: { mint, at }, value: at }))
      )
    await writer.committed(emptyBlock(0), put(writer.base, [10, 20, 30]))
    const unseen = Array.from({ length: 1_200 }, (_, i) => 21 + i).filter((at) => at !== 30)
    await writer.written(emptyBlock(1), put(writer.base, unseen))
    const list = listOf(watermarks.process())
    const range = async (order: 'asc' | 'desc', limit: number, bounds = {}) =>
      (await list.range({ within: [blob(mint)], order, limit, ...bounds })).map(({ value }) => value)
    t.strictSame(await range('desc', 10), [30, 20, 10])
    t.strictSame(await range('asc', 2), [10, 20])
    t.strictSame(await range('desc', 1), [30])
    t.strictSame(await range('desc', 9, { lt: 30n }), [20, 10])
    t.strictSame(await range('asc', 9, { gt: 10n, lte: 30n }), [20, 30])
    t.strictSame(await range('asc', 0), [])
  })

  t.test('a wide range reads the buckets that have records, and no other', async (t) => {
    const watermarks = new Watermarks(client)
    const owner = blob(newKey())
    const writer = watermarks.claim()
    const positions = [5, 7, 105, 40_000, 40_099, 40_100, 9_000_000_000]
    const records = bucketsOf(writer.base)
    await writer.committed(emptyBlock(0), (commit) =>
      records.stage(
        commit,
        positions.map((position) => ({ owner, position, value: position }))
      )
    )
    const base = watermarks.process()
    const buckets: unknown[] = []
    const asked = watched(base, (method, [statement, params]) => {
      if (method === 'pages' && String(statement).includes(' FROM activity '))
        buckets.push((params as unknown[])[1])
    })
    const range = async (order: 'asc' | 'desc', limit: number, gte = 0, lt = 2 ** 40, likely = false) => {
      buckets.length = 0
      const found = await bucketsOf(asked).range(owner, { gte, lt, order, limit, likely })
      t.ok(found.every(({ position, value }) => position === value))
      return found.map(({ value }) => value)
    }
    t.strictSame(await range('asc', 100), positions)
    t.strictSame(buckets, [0, 1, 400, 401, 90_000_000])
    t.strictSame(await range('desc', 100), positions.toReversed())
    t.strictSame(await range('desc', 2), positions.slice(-2).reverse())
    t.strictSame(buckets, [90_000_000, 401, 400], 'one bucket first, then two at once')
    t.strictSame(await range('asc', 3, 6, 40_100), positions.slice(1, 4))
    t.strictSame(
      await range('desc', 9, 40_000, 40_200),
      [40_100, 40_099, 40_000],
      'two buckets are not asked for'
    )
    t.strictSame(await range('desc', 1, 0, 40_100, true), [40_099])
    t.strictSame(buckets, [400], 'nor is one that most likely has what is looked for')
    t.strictSame(await range('desc', 2, 0, 40_000, true), [105, 7])
    t.strictSame(await range('asc', 9, 200, 40_000), [])
    t.strictSame(buckets, [])
  })

  t.test('records of events go with their retention, and an entry of the index later', async (t) => {
    const watermarks = new Watermarks(client)
    const left = async (retentionSeconds: number | null): Promise<(number | null)[]> => {
      const owner = blob(newKey())
      const writer = watermarks.claim(watermarks.process(retentionSeconds))
      await writer.committed(emptyBlock(watermarks.snapshot.newest), (commit) =>
        bucketsOf(writer.base).stage(commit, [{ owner, position: 1, value: 1 }])
      )
      const value = 'SELECT TTL(value) AS left FROM activity WHERE owner = ? AND bucket = 0 AND hour = 1'
      const [row] = await client.read(value, [owner])
      return [row?.['left'] as number | null]
    }
    t.strictSame(await left(null), [null])
    const [seconds] = await left(86_400)
    t.ok(seconds! > 86_300 && seconds! <= 86_400, `${seconds}`)
  })

  const epochOf = async (key: Pubkey): Promise<unknown> => {
    const [row] = await client.read('SELECT epoch FROM tokens WHERE mint = ?', [blob(key)])
    return row?.['epoch']
  }
})
