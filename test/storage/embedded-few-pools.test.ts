import t from 'tap'
import { cursorAt } from '../../src/market/cursor.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import { fewPoolsKey } from '../../storage/codec/keys.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { Choices } from '../../storage/test/choices.ts'
import { sampleCash, sampleMint } from '../../storage/test/sample-addresses.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { sampleListedPool } from '../../storage/test/sample-registry.ts'
import { withRawStore } from './embedded-directory.ts'

const mint = sampleMint(0)
const ALL = { order: 'desc', limit: 101 } as const

/** A block that names a pool of the mint first; the token then counts as many pools as blocks. */
function blockWithPool(index: number): BlockCommit {
  const block = emptyBlock(index)
  const sample = sampleListedPool(new Choices(index), index)
  const firstCursor = cursorAt(block.slot.slot, 1)
  const pool = { ...sample, base: mint, quote: sampleCash(0), quoteListed: false, firstCursor }
  const token = {
    ...{ mint, decimals: 6, firstCursor: 1, firstTime: 1, trades: 0, pools: index + 1 },
    ...{ lastTrade: null, lastUsd: null }
  }
  return { ...block, pools: [pool], tokens: [token] }
}

const blocks = Array.from({ length: 11 }, (_, index) => blockWithPool(index))
const poolsOf = (some: readonly BlockCommit[]) => some.flatMap(({ pools }) => pools).reverse()

/** Returns the record of a mint's pools as stored; undefined if the store has no such record. */
const recordIn = (directory: string): Promise<Buffer | undefined> =>
  withRawStore(directory, (raw) => raw.get(fewPoolsKey(mint)))

/** Commits blocks to the store in a directory, and returns the pools of the mint as another opening reads them. */
async function committed(directory: string, some: readonly BlockCommit[], together = false) {
  const writer = await openEmbeddedStorage({ directory })
  if (together) await writer.blocks.commitAll([some])
  else for (const block of some) await writer.blocks.commit(block)
  await writer.close()
  const reader = await openEmbeddedStorage({ directory })
  const found = await reader.pools.ofMint(mint, ALL)
  t.strictSame(await reader.pools.ofMint(mint, { ...ALL, limit: 2 }), found.slice(0, 2))
  await reader.close()
  return found
}

t.test('few pools of a mint are listed in a record, and more are searched', async (t) => {
  const directory = t.testdir()
  for (const [index, block] of blocks.entries()) {
    t.strictSame(await committed(directory, [block]), poolsOf(blocks.slice(0, index + 1)))
    const record = await recordIn(directory)
    t.equal(record !== undefined, index < 8, `after ${index + 1} pools`)
  }
})

t.test('the pools of blocks that are committed together are listed', async (t) => {
  const directory = t.testdir()
  t.strictSame(await committed(directory, blocks.slice(0, 5), true), poolsOf(blocks.slice(0, 5)))
  t.ok(await recordIn(directory))
})

t.test('a record that an earlier version has not kept up with is not used, and made again', async (t) => {
  const directory = t.testdir()
  await committed(directory, blocks.slice(0, 2))
  const earlier = await recordIn(directory)
  await committed(directory, blocks.slice(2, 4))
  await withRawStore(directory, (raw) => raw.put(fewPoolsKey(mint), earlier!))
  t.strictSame(await committed(directory, []), poolsOf(blocks.slice(0, 4)))
  await withRawStore(directory, (raw) => raw.del(fewPoolsKey(mint)))
  t.strictSame(await committed(directory, []), poolsOf(blocks.slice(0, 4)))
  t.strictSame(await committed(directory, blocks.slice(4, 5)), poolsOf(blocks.slice(0, 5)))
  t.equal((await recordIn(directory))!.length, 5 + 5 * 32)
})
