import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { formatKey } from '../../storage/codec/keys.ts'
import { formatKind } from '../../storage/codec/kinds.ts'
import { packRecord } from '../../storage/codec/record.ts'
import { FORMAT, OLDEST_FORMAT } from '../../storage/embedded/format.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { damageRecords, rawContents, withRawStore } from './embedded-directory.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const mint = sampleMint(0)

t.test('a second process that opens the same directory is told so', async (t) => {
  const directory = t.testdir()
  const storage = await openEmbeddedStorage({ directory })
  const script = `
    import { openEmbeddedStorage } from ${JSON.stringify(new URL('../../storage/embedded/store.ts', import.meta.url).href)}
    await openEmbeddedStorage({ directory: ${JSON.stringify(directory)} }).catch(error => console.log(error.kind.name, error.detail))`
  const second = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  t.equal(second.stdout.trim(), `STORAGE_UNAVAILABLE the store in ${directory} is open in another process`)
  t.equal(await storage.blocks.commit(blockOfTrades(0, mint, 1)), true, 'the first goes on')
  await storage.close()
})

t.test('a store of a newer format is refused and left as it is', async (t) => {
  const directory = t.testdir()
  await withRawStore(directory, (raw) =>
    raw.put(formatKey(), Buffer.from(packRecord(formatKind, formatKey(), FORMAT + 1)))
  )
  const before = await rawContents(directory)
  await t.rejects(openEmbeddedStorage({ directory }), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    detail: `the store in ${directory} has format ${FORMAT + 1}, and this version reads formats ${OLDEST_FORMAT} to ${FORMAT}: start the version that wrote it or a later one, or restore a backup from before the upgrade (src/docs/upgrade.md)`
  })
  t.strictSame(await rawContents(directory), before)
})

t.test('a store of an older format is refused with what to do, and left as it is', async (t) => {
  const directory = t.testdir()
  await withRawStore(directory, (raw) =>
    raw.put(formatKey(), Buffer.from(packRecord(formatKind, formatKey(), 1)))
  )
  const before = await rawContents(directory)
  await t.rejects(openEmbeddedStorage({ directory }), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    detail:
      /has format 1, which this version no longer reads \(it reads 3 to 7\): start with an empty directory and reindex/
  })
  t.strictSame(await rawContents(directory), before)
})

t.test('a directory that holds something else is refused', async (t) => {
  const directory = t.testdir()
  await withRawStore(directory, (raw) => raw.put(Buffer.from('someone'), Buffer.from('else')))
  await t.rejects(openEmbeddedStorage({ directory }), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    detail: /something else/
  })
})

t.test('a damaged record of any kind is an error that names it', async (t) => {
  const directory = t.testdir()
  // The first block that has records of each kind.
  const block = Array.from({ length: 40 }, (_, i) => sampleBlock(5, 4 * i)).find(
    ({ pairs, poolEvents }) => pairs.length > 0 && poolEvents.length > 0
  )!
  const [pair] = block.pairs
  const launch = block.launches[0]!
  const storage = await openEmbeddedStorage({ directory })
  await storage.blocks.commit(block)
  await storage.close()
  for (const kind of 'eopl') t.ok((await damageRecords(directory, Buffer.from(kind))) > 0)
  const damaged = await openEmbeddedStorage({ directory })
  t.teardown(() => damaged.close())
  const named = (name: string) => ({
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    detail: new RegExp(`^${name} [0-9a-f]+ is damaged`)
  })
  await t.rejects(damaged.pairs.get(pair!), named('pairs'))
  await t.rejects(damaged.pairs.ofMint(pair!.mint), named('pairs'))
  t.equal(damaged.damage.length, 1, 'a record that is read twice is one damage')
  t.match(damaged.damage[0], /^pairs [0-9a-f]+ is damaged/)
  await t.rejects(damaged.launches.get(launch.mint), named('launch'))
  await t.rejects(damaged.launches.page({ order: 'desc', limit: 5 }), named('launch'))
  await t.rejects(
    damaged.poolEvents.ofPool(block.poolEvents[0]!.pool, { order: 'asc', limit: 9 }),
    named('pool event page')
  )
  await t.rejects(damaged.candles.get({ ...pair!, interval: '1m', ts: 0 }), named('newest candles'))
})

t.test('a value under another key does not pass for its own', async (t) => {
  const directory = t.testdir()
  const storage = await openEmbeddedStorage({ directory })
  await storage.blocks.commit(blockOfTrades(0, mint, 3))
  await storage.blocks.commit(blockOfTrades(1, sampleMint(1), 3))
  await storage.close()
  await withRawStore(directory, async (raw) => {
    const [[first], [second]] = (await raw
      .iterator({ gte: Buffer.from('t'), lt: Buffer.from('u') })
      .all()) as [[Buffer, Buffer], [Buffer, Buffer]]
    await raw.put(first, (await raw.get(second))!)
    await raw.put(second, (await raw.get(first))!)
  })
  const swapped = await openEmbeddedStorage({ directory })
  t.teardown(() => swapped.close())
  const outcomes = await Promise.allSettled(
    [0, 1].map((n) => swapped.trades.ofMint(sampleMint(n), { order: 'asc', limit: 9 }))
  )
  t.ok(outcomes.some(({ status }) => status === 'rejected'))
})

t.test('the bytes on disk do not depend on how much is kept in memory', async (t) => {
  const base = t.testdir()
  const contents = await Promise.all(
    [0, 50_000, 64 * 2 ** 20].map(async (hotBytesMax) => {
      const directory = join(base, String(hotBytesMax))
      const storage = await openEmbeddedStorage({ directory, hotBytesMax })
      for (let index = 0; index < 60; index++) await storage.blocks.commit(sampleBlock(8, index))
      await storage.close()
      return rawContents(directory)
    })
  )
  t.strictSame(contents[1], contents[0])
  t.strictSame(contents[2], contents[0])
})

t.test('a block that cannot be packed is refused whole, and the next one is stored', async (t) => {
  const storage = await openEmbeddedStorage({ directory: t.testdir() })
  t.teardown(() => storage.close())
  const block = blockOfTrades(0, mint, 3)
  const trades = [...block.trades.slice(0, 2), { ...block.trades[2]!, inAmount: -1n }]
  await t.rejects(storage.blocks.commit({ ...block, trades }), RangeError)
  t.equal(await storage.blocks.head(), null)
  t.strictSame(await storage.trades.ofMint(mint, { order: 'asc', limit: 9 }), [])
  t.equal(await storage.blocks.commit(block), true)
  assert.deepStrictEqual(await storage.trades.ofMint(mint, { order: 'asc', limit: 9 }), block.trades)
})

t.test('rows in memory keep nothing of the buffers they were given in', async (t) => {
  const storage = await openEmbeddedStorage({ directory: t.testdir() })
  t.teardown(() => storage.close())
  const block = blockOfTrades(0, mint, 2)
  const wholeBlock = new Uint8Array(1_000_000)
  const trades = block.trades.map((row, i) => {
    wholeBlock.set(row.signature, i * 64)
    return { ...row, signature: wholeBlock.subarray(i * 64, i * 64 + 64) }
  })
  await storage.blocks.commit({ ...block, trades })
  wholeBlock.fill(0)
  assert.deepStrictEqual(await storage.trades.ofMint(mint, { order: 'asc', limit: 9 }), block.trades)
  for (const row of await storage.trades.ofMint(mint, { order: 'asc', limit: 9 }))
    t.equal(row.signature.buffer.byteLength, 64)
})
