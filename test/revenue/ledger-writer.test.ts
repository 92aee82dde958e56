import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import { LEDGER_PIECE, LEDGER_SUM, PIECE_ENTRIES, type Sums } from '../../src/revenue/ledger-document.ts'
import type { LedgerEntry } from '../../src/revenue/ledger-entry.ts'
import { LedgerReader } from '../../src/revenue/ledger-reader.ts'
import { LedgerWriter, type LedgerPart } from '../../src/revenue/ledger-writer.ts'
import { NO_SUMS, plus, sumsOf } from '../../src/revenue/sums.ts'
import { DyingStorage } from '../followers/dying-storage.ts'
import { entry, signatureOf } from './revenue-client.ts'
import { key, NOON } from '../market/world.ts'
import { ownDirectory } from '../own-directory.ts'
import { IS_LONG } from '../random-runs.ts'

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

/** Reads the entries by slot, and checks that the sums are those of the entries, and that there are no others. */
async function checkedEntries(
  t: Test,
  documents: DocumentStore,
  address: string,
  message: string
): Promise<Map<number, LedgerEntry[]>> {
  const entries = new Map<number, LedgerEntry[]>()
  for (const { value } of await new Documents(documents, LEDGER_PIECE).all(address))
    entries.set(value.slot, [...(entries.get(value.slot) ?? []), ...value.entries])
  const totals = new Map<string, Sums>()
  const expected = [...entries].flatMap(([slot, list]) =>
    sumsOf(address, list).map(({ mint, sums: own }) => {
      const total = plus(totals.get(mint) ?? NO_SUMS, own)
      totals.set(mint, total)
      return { mint, slot, own, total }
    })
  )
  const sums = await new Documents(documents, LEDGER_SUM).all(address)
  t.strictSame(
    sums.map(({ value: { mint, slot, own, total } }) => ({ mint, slot, own, total })),
    expected.sort((a, b) => (a.mint === b.mint ? a.slot - b.slot : a.mint < b.mint ? -1 : 1)),
    message
  )
  return entries
}

/** A store that knows the writes in flight: those of a dead process are over before the next one starts. */
class WritesInFlight {
  readonly #writes = new Set<Promise<unknown>>()

  of(documents: DocumentStore): DocumentStore {
    return {
      ...documents,
      get: async (address) => documents.get(address),
      list: async (range) => documents.list(range),
      put: (...row) => this.#track(documents.put(...row)),
      delete: (header) => this.#track(documents.delete(header))
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
    slot: fc.nat(SLOTS),
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
        new LedgerWriter(dying.of({ ...storage, documents: inFlight.of(storage.documents) }).documents)
      let writer = newWriter()
      for (const [at, { kind, slot, usd, death, isAfter }] of list.entries()) {
        const message = `action ${at} of ${JSON.stringify(list)}`
        const act = async (value: number): Promise<unknown> => {
          if (kind === 'put') return writer.put(partOf(address, slot, value))
          return kind === 'rollBack' ? writer.rollBack(address, slot) : writer.sumUp(address, slot)
        }
        if (kind === 'restart') writer = newWriter()
        if (death !== null) dying.dieAtWrite(death, isAfter ? 'after' : 'before')
        await act(usd).catch(() => undefined)
        if (dying.isDead) {
          deaths[isAfter ? 'after' : 'before']++
          await inFlight.settled()
          writer = newWriter()
          await writer.sumUp(address, slot - 1)
          await checkedEntries(t, storage.documents, address, `after the death at ${message}`)
          await act(usd + 1)
        } else dying.dieAtWrite(Infinity, 'before')
        if (kind === 'put') slots.add(slot)
        if (kind === 'rollBack') for (const each of slots) if (each > slot) slots.delete(each)
        const entries = await checkedEntries(t, storage.documents, address, message)
        t.strictSame(
          [...entries].map(([of, { length }]) => [of, length]),
          [...slots].sort((a, b) => a - b).map((of) => [of, partOf(address, of, 0).entries.length]),
          `no entry is lost or repeated: ${message}`
        )
      }
    }),
    { numRuns: IS_LONG ? 2_000 : 60 }
  )
  t.ok(deaths.before > 3 && deaths.after > 3, `${deaths.before} and ${deaths.after} deaths`)
})

t.test('an entry that is stored keeps its price, and is what a repeat resolves with', async (t) => {
  const { documents } = await open(t)
  const writer = new LedgerWriter(documents)
  const address = newAddress()
  await writer.put(partOf(address, 5, 10))
  const again = await writer.put(partOf(address, 5, 99))
  t.strictSame(again, partOf(address, 5, 10))
  await checkedEntries(t, documents, address, 'with the first price')
})

t.test('sums of a block after the newest need no reads', async (t) => {
  const { documents } = await open(t)
  const calls: string[] = []
  const counting: DocumentStore = {
    ...documents,
    get: async (address) => {
      calls.push('get')
      return documents.get(address)
    },
    list: async (range) => {
      calls.push('list')
      return documents.list(range)
    },
    put: async (...row) => {
      calls.push('put')
      return documents.put(...row)
    }
  }
  const writer = new LedgerWriter(counting)
  const address = newAddress()
  for (const slot of [1, 2, 3, 4]) await writer.put(partOf(address, slot, 1))
  calls.length = 0
  await writer.put(partOf(address, 6, 1))
  t.strictSame(new Set(calls), new Set(['put']))
  await checkedEntries(t, documents, address, 'without reads')
})

t.test('a block of 10,000 entries is stored, summed up, listed and rolled back', async (t) => {
  const { documents } = await open(t)
  const writer = new LedgerWriter(documents)
  const [address, slot] = [newAddress(), 2 ** 33]
  const entries = Array.from({ length: 10_000 }, (_, txIndex) =>
    entry({ txIndex, signature: signatureOf(txIndex + 1), mint: mintOf(txIndex % 7) })
  )
  const part = { address, slot, blockTime: NOON, blockhash: null, entries }
  await writer.put({ ...part, slot: slot - 1, entries: entries.slice(0, 1) })
  await writer.put(part)
  await checkedEntries(t, documents, address, 'of 10,000 entries')
  const facts = { tenant: 'a', address, slot: 0, label: '', role: 'other', createdAtMs: 0 }
  const page = { from: 0, order: 'asc', after: null, limit: 20_000 } as const
  const rows = await new LedgerReader(documents).rows([{ ...facts, captureFrom: { slot, ts: 0 } }], page)
  t.strictSame(
    rows.map(({ txIndex }) => txIndex),
    entries.map(({ txIndex }) => txIndex)
  )
  const removed: LedgerPart[] = []
  await writer.rollBack(address, slot - 1, async (each) => void removed.push(each))
  t.strictSame(removed, [part])
  t.strictSame([...(await checkedEntries(t, documents, address, 'before it')).keys()], [slot - 1])
})

t.test('the largest entries fit into a document, and sums exceed 64 bits', async (t) => {
  const { documents } = await open(t)
  const writer = new LedgerWriter(documents)
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
  for (const slot of [2 ** 33, 2 ** 33 + 1])
    await writer.put({
      address,
      slot,
      // Times of blocks may fall.
      blockTime: NOON - slot,
      blockhash: longest,
      entries: largest.map((each, n) => ({ ...each, signature: signatureOf(slot + n) }))
    })
  await checkedEntries(t, documents, address, 'beyond 64 bits')
  const facts = { tenant: 'a', address, slot: 0, label: '', role: 'other', createdAtMs: 0 }
  const found = await new LedgerReader(documents).sums(
    { ...facts, captureFrom: { slot: 0, ts: 0 } },
    { from: 0 }
  )
  t.equal(found.byMint[0]?.sums.inflow, U64_MAX * BigInt(4 * PIECE_ENTRIES))
})
