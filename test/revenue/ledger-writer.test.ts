import fc from 'fast-check'
import t, { type Test } from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { LedgerStore, Storage } from '../../storage/port.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import { PIECE_ENTRIES } from '../../src/revenue/ledger-document.ts'
import type { LedgerEntry } from '../../src/revenue/ledger-entry.ts'
import { LedgerReader } from '../../src/revenue/ledger-reader.ts'
import type { LedgerStores } from '../../src/revenue/ledger-stores.ts'
import { LedgerWriter } from '../../src/revenue/ledger-writer.ts'
import type { LedgerPart } from '../../src/revenue/packed-page.ts'
import { NO_SUMS, plus, sumsOf, type MintSums } from '../../src/revenue/sums.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import { DyingStorage } from '../followers/dying-storage.ts'
import { entry, signatureOf } from './revenue-client.ts'
import { storedParts, storedSumsEqual } from './stored-ledger.ts'
import { key, NOON } from '../market/world.ts'
import { ownDirectory } from '../own-directory.ts'
import { randomRuns } from '../random-runs.ts'

const U64_MAX = 2n ** 64n - 1n
let addresses = 0
const newAddress = (): string => pubkeyToBase58(key(90_000 + addresses++))
const mintOf = (n: number): string => (n === 0 ? WSOL : pubkeyToBase58(key(80_000 + n)))

async function open(t: Test): Promise<Storage> {
  const storage = await openEmbeddedStorage({ directory: ownDirectory(t), hotBytesMax: 2 ** 24 })
  t.teardown(() => storage.close())
  return storage
}

/** Returns the entries of a slot, which are always equal, except for their prices. Each fifth slot has several pieces. */
function partOf(address: string, slot: number, usd: number): LedgerPart {
  const count = slot % 5 === 0 ? 2 * PIECE_ENTRIES + 3 : 1 + (slot % 3)
  const entries = Array.from({ length: count }, (_, txIndex) =>
    entry({
      ...{ txIndex, signature: signatureOf(slot * 1_000 + txIndex), account: address },
      ...{ mint: mintOf((slot + txIndex) % 4), isNative: false, valueUsd: usd },
      ...(txIndex % 2 === 0
        ? { pre: 0n, post: U64_MAX - BigInt(slot) }
        : { pre: BigInt(slot) + 1n, post: 0n })
    })
  )
  return { address, slot, blockTime: NOON + slot, blockhash: null, entries }
}

const watchedFrom = (address: string, slot: number): WatchedAddress => ({
  ...{ tenant: 'a', address, slot: 0, label: '', role: 'other', createdAtMs: 0 },
  captureFrom: { slot, ts: 0 }
})

/**
 * Reads the entries by slot, and checks that the sums are those of the entries, and that there are no others: those that are
 * stored, and those of all windows that end with an entry.
 */
async function checkedEntries(
  t: Test,
  stores: LedgerStores,
  address: string,
  message: string
): Promise<Map<number, readonly LedgerEntry[]>> {
  await storedSumsEqual(t, stores.ledger, address, message)
  const entries = new Map<number, readonly LedgerEntry[]>()
  for (const part of await storedParts(stores.ledger, address)) entries.set(part.slot, part.entries)
  const reader = new LedgerReader(stores)
  const totals = new Map<string, MintSums['sums']>()
  for (const [slot, list] of entries) {
    for (const { mint, sums } of sumsOf(address, list))
      totals.set(mint, plus(totals.get(mint) ?? NO_SUMS, sums))
    const found = await reader.sums(watchedFrom(address, 0), { from: 0, until: slot })
    const expected = new Map(totals)
    t.strictSame(found.all, expected.get(''), message)
    expected.delete('')
    t.strictSame(new Map(found.byMint.map(({ mint, sums }) => [mint, sums])), expected, message)
  }
  return entries
}

/** A store that knows the writes in flight: those of a dead process are over before the next one starts. */
class WritesInFlight {
  readonly #writes = new Set<Promise<unknown>>()

  of(ledger: LedgerStore): LedgerStore {
    return {
      pages: async (...query) => ledger.pages(...query),
      sums: async (...query) => ledger.sums(...query),
      marks: async (owners) => ledger.marks(owners),
      put: (rows) => this.#track(ledger.put(rows)),
      drop: (rows) => this.#track(ledger.drop(rows))
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes)
  }

  #track<T>(write: Promise<T>): Promise<T> {
    this.#writes.add(write)
    void write.finally(() => this.#writes.delete(write))
    return write
  }
}

const SLOTS = 16
const actions = fc.array(
  fc.record({
    // Most slots are new or late; a slot that comes twice is a repeat.
    kind: fc.constantFrom('put', 'put', 'put', 'rollBack', 'restart'),
    // Slots of several ranges, in two of the ranges above.
    slot: fc.nat(SLOTS).map((n) => n * 19),
    usd: fc.integer({ min: -50, max: 50 }),
    death: fc.option(fc.integer({ min: 1, max: 10 })),
    isAfter: fc.boolean()
  }),
  { minLength: 1, maxLength: 14 }
)

t.test('the sums of a ledger are those of its entries, whatever comes in whatever order', async (t) => {
  const storage = await open(t)
  const deaths = { before: 0, after: 0 }
  await fc.assert(
    fc.asyncProperty(actions, async (list) => {
      const address = newAddress()
      const dying = new DyingStorage()
      const slots = new Set<number>()
      const inFlight = new WritesInFlight()
      const newWriter = (): LedgerWriter =>
        new LedgerWriter(dying.of({ ...storage, ledger: inFlight.of(storage.ledger) }))
      let writer = newWriter()
      for (const [at, { kind, slot, usd, death, isAfter }] of list.entries()) {
        const message = `action ${at} of ${JSON.stringify(list)}`
        const act = async (value: number): Promise<unknown> => {
          if (kind === 'put') return writer.put([partOf(address, slot, value)])
          return kind === 'rollBack' ? writer.rollBack(address, slot) : writer.sumUp([address], slot)
        }
        if (kind === 'restart') writer = newWriter()
        if (death !== null) dying.dieAtWrite(death, isAfter ? 'after' : 'before')
        await act(usd).catch(() => undefined)
        if (dying.isDead) {
          deaths[isAfter ? 'after' : 'before']++
          await inFlight.settled()
          writer = newWriter()
          await writer.sumUp([address], slot - 1)
          await checkedEntries(t, storage, address, `after the death at ${message}`)
          await act(usd + 1)
        } else dying.dieAtWrite(Infinity, 'before')
        if (kind === 'put') slots.add(slot)
        if (kind === 'rollBack') for (const each of slots) if (each > slot) slots.delete(each)
        const entries = await checkedEntries(t, storage, address, message)
        t.strictSame(
          [...entries].map(([of, { length }]) => [of, length]),
          [...slots].sort((a, b) => a - b).map((of) => [of, partOf(address, of, 0).entries.length]),
          `no entry is lost or repeated: ${message}`
        )
      }
    }),
    randomRuns(60)
  )
  t.ok(deaths.before > 3 && deaths.after > 3, `${deaths.before} and ${deaths.after} deaths`)
})

t.test('an entry that is stored keeps its price, and is what a repeat resolves with', async (t) => {
  const storage = await open(t)
  const writer = new LedgerWriter(storage)
  const address = newAddress()
  await writer.put([partOf(address, 5, 10)])
  const again = await writer.put([partOf(address, 5, 99)])
  t.strictSame(again, [partOf(address, 5, 10)])
  const restarted = await new LedgerWriter(storage).put([partOf(address, 5, 98)])
  t.strictSame(restarted, [partOf(address, 5, 10)])
  await checkedEntries(t, storage, address, 'with the first price')
})

t.test('a block after the newest is one write, and needs no reads', async (t) => {
  const storage = await open(t)
  const calls: string[] = []
  const counting = new Proxy(storage.ledger, {
    get(store, name: keyof LedgerStore) {
      calls.push(name)
      return store[name].bind(store) as unknown
    }
  })
  const writer = new LedgerWriter({ ...storage, ledger: counting })
  const addresses = Array.from({ length: 40 }, newAddress)
  const put = async (slot: number) => writer.put(addresses.map((address) => partOf(address, slot, 1)))
  for (const slot of [1, 2, 3, 4]) await put(slot)
  calls.length = 0
  await put(6)
  t.strictSame(calls, ['put'])
  // The sums of the first range are stored with the first page of the next one.
  await put(17)
  t.strictSame(calls, ['put', 'put'])
  for (const address of addresses) await checkedEntries(t, storage, address, 'without reads')
})

t.test('a block of 10,000 entries is stored, summed up, listed and rolled back', async (t) => {
  const storage = await open(t)
  const writer = new LedgerWriter(storage)
  const [address, slot] = [newAddress(), 2 ** 33]
  const entries = Array.from({ length: 10_000 }, (_, txIndex) =>
    entry({ txIndex, signature: signatureOf(txIndex + 1), mint: mintOf(txIndex % 7) })
  )
  const part = { address, slot, blockTime: NOON, blockhash: null, entries }
  await writer.put([{ ...part, slot: slot - 1, entries: entries.slice(0, 1) }])
  await writer.put([part])
  await checkedEntries(t, storage, address, 'of 10,000 entries')
  const page = { from: 0, order: 'asc', after: null, limit: 20_000 } as const
  const rows = await new LedgerReader(storage).rows([watchedFrom(address, slot)], page)
  t.strictSame(
    rows.map(({ txIndex }) => txIndex),
    entries.map(({ txIndex }) => txIndex)
  )
  const removed: LedgerPart[] = []
  await writer.rollBack(address, slot - 1, async (each) => void removed.push(each))
  t.strictSame(removed, [part])
  t.strictSame([...(await checkedEntries(t, storage, address, 'before it')).keys()], [slot - 1])
})

t.test('the largest entries are stored as they are, and sums exceed 64 bits', async (t) => {
  const storage = await open(t)
  const writer = new LedgerWriter(storage)
  const address = newAddress()
  const longest = pubkeyToBase58(new Uint8Array(32).fill(255))
  const largest = Array.from({ length: 2 * PIECE_ENTRIES }, (_, txIndex) =>
    entry({
      ...{ signature: '5'.repeat(88), txIndex, index: 255, account: longest, mint: longest },
      ...{ isNative: false, decimals: 255, pre: 0n, post: U64_MAX, kind: 'transfer' },
      ...{ counterparty: longest, confidence: 'inferred', feeLamports: U64_MAX, feePayer: longest },
      ...{ ixIndex: 255, valueUsd: -1.2345678901234567e-200, feeUsd: 18_446_744_073.709553 }
    })
  )
  const parts = [2 ** 33, 2 ** 33 + 1, 2 ** 33 + 100].map((slot) => ({
    address,
    slot,
    // Times of blocks may fall.
    blockTime: NOON - (slot - 2 ** 33),
    blockhash: longest,
    entries: largest.map((each, n) => ({ ...each, signature: signatureOf(slot + n) }))
  }))
  for (const part of parts) await writer.put([part])
  t.strictSame(await storedParts(storage.ledger, address), parts)
  await checkedEntries(t, storage, address, 'beyond 64 bits')
  const found = await new LedgerReader(storage).sums(watchedFrom(address, 0), { from: 0 })
  t.equal(found.byMint[0]?.sums.inflow, U64_MAX * BigInt(6 * PIECE_ENTRIES))
})
