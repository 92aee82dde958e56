import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import { formatKey } from '../../storage/codec/keys.ts'
import { formatKind } from '../../storage/codec/kinds.ts'
import { unpackRecord } from '../../storage/codec/record.ts'
import { ARCHIVE_FORMAT, FORMAT, OLDEST_FORMAT } from '../../storage/embedded/format.ts'
import { openEmbeddedSnapshot } from '../../storage/embedded/snapshot.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { marketApp } from '../http/market-app.ts'
import { ownDirectory } from '../own-directory.ts'
import { withRawStore } from './embedded-directory.ts'
import { FORMAT_ADDRESSES, FORMAT_CHAIN } from './formats/chain.ts'
import { unpackFiles } from './formats/stored-files.ts'
import { storeChain } from './formats/write.ts'

interface StoredFormat {
  /** Name of the file in `formats`, without its ending. */
  readonly name: string
  readonly format: number
  /** Texts of answers that differ from those of a new store, with what they are there. */
  readonly unknown: readonly (readonly [text: string, known: string])[]
}

/**
 * Stores of the formats that are read. `format-3-first` was written by commit f9232eda, before tenants were documents; `format-3` by
 * 119ca05e, the last one of its format. The first one does not know how many trades its sums lack.
 */
const STORES: readonly StoredFormat[] = [
  { name: 'format-3-first', format: 3, unknown: [['"unpriced_trades":null,', '']] },
  { name: 'format-3', format: 3, unknown: [] },
  { name: 'format-4', format: 4, unknown: [] },
  { name: 'format-6', format: 6, unknown: [] },
  { name: 'format-7', format: 7, unknown: [] }
]

const knownIn = ({ unknown }: StoredFormat, answer: string | undefined): string | undefined =>
  unknown.reduce((text, [from, to]) => text?.replaceAll(from, to), answer)

/** Makes a directory with a store of this folder. */
function unpack({ name }: StoredFormat, directory: string): void {
  unpackFiles(readFileSync(join(import.meta.dirname, 'formats', `${name}.bin`)), directory)
}

const { mints, pools, wallets } = FORMAT_ADDRESSES
const text = encodeBase58

/** Requests for everything that the chain has given. */
const PATHS = [
  ...mints
    .map(text)
    .flatMap((mint) => [
      `/v1/tokens/${mint}`,
      `/v1/tokens/${mint}/trades?limit=1000`,
      `/v1/tokens/${mint}/price`,
      `/v1/tokens/${mint}/pools`,
      `/v1/tokens/${mint}/bonding-curve`,
      ...INTERVALS.map((interval) => `/v1/tokens/${mint}/candles?interval=${interval}`)
    ]),
  ...pools
    .map(text)
    .flatMap((pool) => [
      `/v1/pools/${pool}`,
      `/v1/pools/${pool}/trades`,
      `/v1/pools/${pool}/activity`,
      `/v1/pools/${pool}/candles?interval=1h`
    ]),
  ...wallets.map((wallet) => `/v1/wallets/${text(wallet)}/trades?limit=1000`),
  `/v1/prices?mints=${mints.map(text).join(',')}`,
  '/v1/launches',
  '/v1/stats',
  '/v1/coverage'
]

const formatOf = (directory: string): Promise<number> =>
  withRawStore(directory, async (raw) => {
    const bytes = await raw.get(formatKey())
    return unpackRecord(formatKind, formatKey(), bytes!)
  })

/** Returns the answers that a store gives, by path. */
async function answersOf(t: Test, directory: string): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  await t.test('is served', async (t) => {
    const app = await marketApp(t, undefined, { directory, accounts: null })
    app.nowMs = (FORMAT_CHAIN.at(-1)!.blockTime + 60) * 1_000
    for (const path of PATHS) {
      const { status, text: body } = await app.get(path)
      answers.set(path, `${status} ${body.replaceAll(/"request_id":"[^"]*"/g, '')}`)
    }
    t.ok([...answers.values()].filter((answer) => answer.startsWith('200 ')).length > PATHS.length / 2)
  })
  return answers
}

t.test('a store of each format that is read gives the bytes of a new store', async (t) => {
  // Format 5 was that of archives alone.
  const formats = Array.from({ length: FORMAT - OLDEST_FORMAT + 1 }, (_, n) => OLDEST_FORMAT + n).filter(
    (format) => format !== 5
  )
  t.strictSame([...new Set(STORES.map(({ format }) => format))], formats)
  const folder = ownDirectory(t)
  const made = join(folder, 'new')
  await storeChain(made, FORMAT_CHAIN)
  const expected = await answersOf(t, made)
  for (const stored of STORES)
    await t.test(stored.name, async (t) => {
      const directory = join(folder, stored.name)
      unpack(stored, directory)
      t.equal(await formatOf(directory), stored.format)
      const answers = await answersOf(t, directory)
      for (const [path, answer] of expected) t.equal(knownIn(stored, answers.get(path)), answer, path)
      t.equal(await formatOf(directory), FORMAT, 'it has this version’s format from now on')
    })
})

t.test('a store of an earlier format continues with the next blocks as a new one does', async (t) => {
  const folder = ownDirectory(t)
  const [earlier, made] = [join(folder, 'earlier'), join(folder, 'new')]
  unpack(STORES[0]!, earlier)
  await storeChain(made, FORMAT_CHAIN)
  const more = FORMAT_CHAIN.slice(-3).map((block, n) => ({
    ...block,
    slot: 2_000 + n,
    parentSlot: 1_999 + n,
    blockTime: FORMAT_CHAIN.at(-1)!.blockTime + 60 * (n + 1)
  }))
  for (const directory of [earlier, made]) {
    const app = await marketApp(t, undefined, { directory, accounts: null })
    await app.commit(...more)
    await app.storage.close()
  }
  const expected = await answersOf(t, made)
  for (const [path, answer] of await answersOf(t, earlier))
    t.equal(knownIn(STORES[0]!, answer), expected.get(path), path)
})

t.test('a store that is opened twice has its format raised once', async (t) => {
  const directory = join(ownDirectory(t), 'store')
  unpack(STORES[0]!, directory)
  for (let n = 0; n < 2; n++) {
    await (await openEmbeddedStorage({ directory })).close()
    t.equal(await formatOf(directory), FORMAT)
  }
})

t.test('an archive has a format of its own, and one of an earlier format is continued', async (t) => {
  const folder = ownDirectory(t)
  const [earlier, made] = [join(folder, 'earlier'), join(folder, 'new')]
  unpack(STORES[0]!, earlier)
  for (const directory of [earlier, made]) {
    await (await openEmbeddedStorage({ directory, isArchive: true })).close()
    t.equal(await formatOf(directory), ARCHIVE_FORMAT)
    // Commands such as `verify` do not know that it is an archive.
    await (await openEmbeddedStorage({ directory })).close()
    t.equal(await formatOf(directory), ARCHIVE_FORMAT)
  }
})

t.test('a snapshot of an earlier format is read, and leaves the store as it is', async (t) => {
  const directory = join(ownDirectory(t), 'store')
  unpack(STORES[0]!, directory)
  const snapshot = await openEmbeddedSnapshot({ directory })
  t.equal((await snapshot.blocks.head())?.slot, FORMAT_CHAIN.at(-1)!.slot)
  await snapshot.close()
  t.equal(await formatOf(directory), STORES[0]!.format)
})
