import fc from 'fast-check'
import t, { type Test } from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import type { LedgerEntry } from '../../src/revenue/ledger-entry.ts'
import { ledgerProgressIn } from '../../src/revenue/ledger-progress.ts'
import { LedgerReader } from '../../src/revenue/ledger-reader.ts'
import { LedgerWriter } from '../../src/revenue/ledger-writer.ts'
import { DocumentLedger } from '../../src/revenue/document-ledger.ts'
import { NO_SUMS, plus, sumsOf, type MintSums } from '../../src/revenue/sums.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { LedgerStore, Storage } from '../../storage/port.ts'
import { key, NOON } from '../market/world.ts'
import { ownDirectory } from '../own-directory.ts'
import { randomRuns } from '../random-runs.ts'
import { entry, signatureOf } from './revenue-client.ts'
import { storedSumsEqual } from './stored-ledger.ts'

async function open(t: Test): Promise<Storage> {
  const storage = await openEmbeddedStorage({ directory: ownDirectory(t), hotBytesMax: 2 ** 24 })
  t.teardown(() => storage.close())
  return storage
}

const watched = (address: string): WatchedAddress => ({
  ...{ tenant: 'acme', address, slot: 0, label: '', role: 'other', createdAtMs: 0 },
  captureFrom: { slot: 0, ts: NOON }
})

const mintOf = (n: number): string => (n === 0 ? WSOL : pubkeyToBase58(key(50_000 + n)))

function entriesAt(address: string, slot: number, value: number): readonly LedgerEntry[] {
  return Array.from({ length: 1 + (slot % 3) }, (_, txIndex) =>
    entry({
      ...{ account: address, mint: mintOf((slot + txIndex) % 5), isNative: false, txIndex },
      ...{ signature: signatureOf(slot * 10 + txIndex), pre: BigInt(value), post: BigInt(slot * txIndex) }
    })
  )
}

type Blocks = ReadonlyMap<number, readonly LedgerEntry[]>

/** Sums up the entries of a window by mint, from the entries alone. */
function folded(address: string, blocks: Blocks, from: number, until: number): Map<string, MintSums['sums']> {
  const totals = new Map<string, MintSums['sums']>()
  for (const [slot, entries] of blocks)
    if (slot >= from && slot <= until)
      for (const { mint, sums } of sumsOf(address, entries))
        totals.set(mint, plus(totals.get(mint) ?? NO_SUMS, sums))
  return totals
}

async function windowEqual(
  t: Test,
  reader: LedgerReader,
  address: string,
  blocks: Blocks,
  window: { readonly from: number; readonly until?: number },
  message: string
): Promise<void> {
  const expected = folded(address, blocks, window.from, window.until ?? Infinity)
  const found = await reader.sums(watched(address), window)
  t.strictSame(found.all, expected.get('') ?? NO_SUMS, message)
  expected.delete('')
  t.strictSame(new Map(found.byMint.map(({ mint, sums }) => [mint, sums])), expected, message)
}

/** Slots in ranges of every level: close together, and up to half a year apart. */
const slots = fc
  .tuple(fc.constantFrom(0, 1, 40, 3_000, 70_000, 2 ** 21, 2 ** 25), fc.nat(40))
  .map(([a, b]) => a + b)
const actions = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('put' as const), slot: slots, value: fc.nat(1_000) })
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('rollBack' as const), slot: slots, value: fc.nat(9) })
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('restart' as const), slot: slots, value: fc.nat(9) })
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('read' as const), slot: slots, value: fc.nat(70_000) })
    }
  ),
  { minLength: 4, maxLength: 40 }
)

t.test('sums of windows are those of the entries, whatever a reader has cached before', async (t) => {
  const storage = await open(t)
  const { save } = await ledgerProgressIn(storage.documents).claim(1)
  const reader = new LedgerReader(storage)
  const progress = { blockhash: null, blockTime: NOON, holes: [], documentsTo: -1 }
  let [run, edits] = [0, 0]
  await fc.assert(
    fc.asyncProperty(actions, async (list) => {
      const address = pubkeyToBase58(key(60_000 + run++))
      let writer = new LedgerWriter(storage)
      const blocks = new Map<number, readonly LedgerEntry[]>()
      let slotOfProgress = 0
      for (const [at, { kind, slot, value }] of list.entries()) {
        const message = `action ${at} of ${JSON.stringify(list)}`
        if (kind === 'restart') writer = new LedgerWriter(storage)
        if (kind === 'put') {
          const part = { address, slot, blockTime: NOON + slot, blockhash: null }
          const entries = blocks.get(slot) ?? entriesAt(address, slot, value)
          await writer.put([{ ...part, entries }])
          blocks.set(slot, entries)
        }
        if (kind === 'rollBack') {
          await writer.rollBack(address, slot)
          for (const each of [...blocks.keys()]) if (each > slot) blocks.delete(each)
        }
        // As the follower does: entries of slots up to the progress change only with `edits`.
        if (kind === 'rollBack') slotOfProgress = Math.min(slotOfProgress, slot)
        const isLate = kind === 'put' && slot <= slotOfProgress
        const end = Math.max(0, ...blocks.keys())
        // The progress is behind the newest page, or ahead of it by blocks without entries.
        slotOfProgress = Math.max(slotOfProgress, end - 2 + (at % 5))
        if (kind === 'rollBack' || isLate) edits++
        await save({ ...progress, slot: slotOfProgress, edits })
        await windowEqual(t, reader, address, blocks, { from: 0 }, message)
        const last = kind === 'read' ? slot + value : slot
        await windowEqual(t, reader, address, blocks, { from: slot, until: last }, message)
        await windowEqual(
          t,
          reader,
          address,
          blocks,
          { from: Math.max(0, slot - value), until: end },
          message
        )
      }
      await storedSumsEqual(t, storage.ledger, address, JSON.stringify(list))
    }),
    randomRuns(30)
  )
})

t.test('a reader sees a change of earlier pages at any moment, without what it has cached', async (t) => {
  const storage = await open(t)
  const { save } = await ledgerProgressIn(storage.documents).claim(1)
  const address = mintOf(9)
  const blocks = new Map<number, readonly LedgerEntry[]>()
  const put = async (writer: LedgerWriter, slot: number): Promise<void> => {
    const entries = entriesAt(address, slot, 5)
    await writer.put([{ address, slot, blockTime: NOON + slot, blockhash: null, entries }])
    blocks.set(slot, entries)
  }
  const plain = new LedgerWriter(storage)
  for (let slot = 0; slot < 600; slot += 7) if (slot !== 70) await put(plain, slot)
  await save({ slot: 599, blockhash: null, blockTime: NOON, holes: [], documentsTo: -1 })
  const reader = new LedgerReader(storage)
  let reads = 0
  const reading = new Proxy(storage.ledger, {
    get: (store, name: keyof LedgerStore) => {
      if (name !== 'put' && name !== 'drop') return store[name].bind(store) as unknown
      const write = store[name].bind(store) as (rows: unknown) => Promise<void>
      return async (rows: unknown) => {
        await write(rows)
        // Between two steps of the change the block is either there or not.
        const found = await reader.sums(watched(address), { from: 0, until: 599 })
        const without = folded(address, blocks, 0, 599).get('')!
        const late = sumsOf(address, entriesAt(address, 70, 5))[0].sums
        t.ok([without.entries, without.entries + late.entries].includes(found.all.entries), `after ${name}`)
        reads++
      }
    }
  })
  await windowEqual(t, reader, address, blocks, { from: 0, until: 599 }, 'before')
  await put(new LedgerWriter({ ...storage, ledger: reading }), 70)
  t.ok(reads > 2, `${reads} reads`)
  await windowEqual(t, reader, address, blocks, { from: 0, until: 599 }, 'after')
  await windowEqual(t, reader, address, blocks, { from: 65, until: 75 }, 'around it')
})

t.test('a window costs few reads, and none once it was read', async (t) => {
  const storage = await open(t)
  const { save } = await ledgerProgressIn(storage.documents).claim(1)
  const address = mintOf(10)
  const writer = new LedgerWriter(storage)
  const blocks = new Map<number, readonly LedgerEntry[]>()
  for (let n = 0; n < 1_500; n++) {
    const slot = 1_000_000 + 3 * n
    blocks.set(slot, entriesAt(address, slot, n))
    await writer.put([{ address, slot, blockTime: NOON, blockhash: null, entries: blocks.get(slot)! }])
  }
  const last = Math.max(...blocks.keys())
  await save({ slot: last, blockhash: null, blockTime: NOON, holes: [], documentsTo: -1 })
  const calls: string[] = []
  const counting = new Proxy(storage.ledger, {
    get: (store, name: keyof LedgerStore) => {
      if (name !== 'marks') calls.push(name)
      return store[name].bind(store) as unknown
    }
  })
  const reader = new LedgerReader({ ...storage, ledger: counting })
  const window = { from: 1_000_007, until: last - 4 }
  await windowEqual(t, reader, address, blocks, window, 'read')
  t.ok(calls.length <= 8, `${calls.length} reads of 1,500 blocks`)
  calls.length = 0
  await windowEqual(t, reader, address, blocks, window, 'from memory')
  t.strictSame(calls, [])
})

t.test('entries of an earlier version stay documents, and all windows are those of both', async (t) => {
  const storage = await open(t)
  const { save } = await ledgerProgressIn(storage.documents).claim(1)
  const address = mintOf(11)
  const blocks = new Map<number, readonly LedgerEntry[]>()
  const partAt = (slot: number) => {
    blocks.set(slot, entriesAt(address, slot, 3))
    return { address, slot, blockTime: NOON + slot, blockhash: null, entries: blocks.get(slot)! }
  }
  const documents = new DocumentLedger(storage.documents)
  for (const slot of [3, 8, 20, 21, 300]) await documents.put(partAt(slot))
  const progress = { slot: 300, blockhash: null, blockTime: NOON, holes: [] }
  await save(progress)
  const reader = new LedgerReader(storage)
  const all = async (message: string) => {
    for (const from of [0, 8, 9, 21, 300, 301, 400])
      for (const until of [8, 20, 299, 300, 320, undefined])
        await windowEqual(
          t,
          reader,
          address,
          blocks,
          until === undefined ? { from } : { from, until },
          `${message}: from ${from} until ${until}`
        )
    const page = { from: 0, after: null, limit: 100 } as const
    const rows = await reader.rows([watched(address)], { ...page, order: 'asc' })
    const slotsOfRows = [...new Set(rows.map(({ slot }) => slot))]
    t.strictSame(
      slotsOfRows,
      [...blocks.keys()].sort((a, b) => a - b),
      message
    )
    t.strictSame(
      (await reader.rows([watched(address)], { ...page, order: 'desc' })).toReversed(),
      rows,
      message
    )
  }
  await all('of the earlier version')
  await save({ ...progress, documentsTo: 300 })
  const writer = new LedgerWriter(storage, { token: 2, isOurs: null, documentsTo: 300 })
  for (const slot of [301, 302, 400, 900]) await writer.put([partAt(slot)])
  await all('with pages')
  await writer.put([partAt(15)])
  await all('with a late block among the documents')
  await writer.rollBack(address, 301)
  for (const slot of [302, 400, 900]) blocks.delete(slot)
  await all('after a fork among the pages')
  await writer.removeLost(address, async ({ slot }) => slot < 20)
  for (const slot of [20, 21, 300, 301]) blocks.delete(slot)
  await all('after a fork among the documents')
})
