import type { Clock } from '../../src/ports.ts'
import type { Key } from '../codec/keys.ts'
import {
  ledgerExpiriesUntil,
  ledgerExpiryKey,
  ledgerMarkKey,
  ledgerPageKey,
  ledgerPageKeys,
  ledgerRowKind,
  ledgerStretchKind,
  ledgerSumKey,
  ledgerSumKeys,
  numberInLedgerKey,
  type LedgerStretch
} from '../codec/ledger-row.ts'
import {
  LEDGER_DAYS,
  LEDGER_SUM_SLOTS,
  type LedgerPage,
  type LedgerPageQuery,
  type LedgerRowKeys,
  type LedgerRows,
  type LedgerStore,
  type LedgerSum
} from '../port/ledger.ts'
import type { Database } from './database.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** Slots of a stretch, 7.3 hours: an owner's rows of a stretch expire together, with one entry. */
const STRETCH_SLOTS = 65_536
/** A stretch expires once its last row has: rows of 8 hours are written after its entry. */
const TTL_MS = LEDGER_DAYS * 86_400_000 + 8 * 3_600_000
/** Stretches whose entries are known to be written: those of ten tenants' addresses. */
const KNOWN_MAX = 4_000
/** Interval of sweeps for expired rows, in milliseconds, and the rows that each deletes: about 10 ms of CPU time. */
const SWEEP_EVERY_MS = 60_000
const SWEPT_MAX = 1_000
/** Stretches of one sweep: those of ten thousand addresses with entries in each of them. */
const STRETCHES_PER_SWEEP = 32
/** Places that are read one by one. An iterator of the engine takes as long as ten of them. */
const FEW = 24

/** Ledgers in the store's engine. */
export class LedgerTable implements LedgerStore {
  readonly #database: Database
  readonly #clock: Pick<Clock, 'now'>
  /** The greatest token that this process has written with. All rows of earlier processes have lesser ones. */
  #token = 0
  /** The stretch of each owner whose entry was written last. */
  readonly #known = new Map<string, number>()
  #sweepAtMs = -Infinity

  constructor(database: Database, clock: Pick<Clock, 'now'>) {
    this.#database = database
    this.#clock = clock
  }

  async put({ token, pages = [], sums = [], marks = [] }: LedgerRows): Promise<void> {
    const isGreatest = token >= this.#token
    if (isGreatest) this.#token = token
    await this.#database.write(async (view, batch) => {
      const isFree = (key: Key): boolean => isGreatest || (view.get(ledgerRowKind, key)?.token ?? 0) <= token
      const put = (key: Key, value: Uint8Array): void => {
        if (isFree(key)) batch.put(ledgerRowKind, key, { token, value })
      }
      for (const { owner, slot, value } of pages) {
        this.#putExpiry(batch, owner, Math.floor(slot / STRETCH_SLOTS))
        const key = ledgerPageKey(owner, slot)
        // Most pages are read in ranges, and long after they were written.
        if (isFree(key)) batch.putUncached(ledgerRowKind, key, { token, value })
      }
      for (const { owner, level, number, value } of sums) put(ledgerSumKey(owner, level, number), value)
      for (const { owner, value } of marks) put(ledgerMarkKey(owner), value)
      await this.#sweepWithin(view, batch)
      return { kind: 'documents' }
    })
  }

  pages(owner: string, { from, to, order, limit }: LedgerPageQuery): Promise<LedgerPage[]> {
    return this.#database.read((view) => {
      if (to - from < FEW) {
        const found = valuesAt(view, from, to + 1, (slot) => ledgerPageKey(owner, slot))
        const pages = found.map(([slot, value]) => ({ owner, slot, value }))
        return (order === 'asc' ? pages : pages.toReversed()).slice(0, limit)
      }
      return scanned(view, ledgerPageKeys(owner, from, to), order === 'desc', limit, (slot, value) => ({
        owner,
        slot,
        value
      }))
    })
  }

  sums(owner: string, level: number, from: number, to: number): Promise<LedgerSum[]> {
    return this.#database.read((view) =>
      to - from < FEW
        ? valuesAt(view, from, to, (number) => ledgerSumKey(owner, level, number)).map(([number, value]) => ({
            owner,
            level,
            number,
            value
          }))
        : scanned(view, ledgerSumKeys(owner, level, from, to), false, Infinity, (number, value) => ({
            owner,
            level,
            number,
            value
          }))
    )
  }

  marks(owners: readonly string[]): Promise<(Uint8Array | null)[]> {
    return this.#database.read((view) =>
      owners.map((owner) => view.get(ledgerRowKind, ledgerMarkKey(owner))?.value ?? null)
    )
  }

  async drop({ token, owner, slots = [], sums = [] }: LedgerRowKeys): Promise<void> {
    const keys = [
      ...slots.map((slot) => ledgerPageKey(owner, slot)),
      ...sums.map(({ level, number }) => ledgerSumKey(owner, level, number))
    ]
    await this.#database.write(async (view, batch) => {
      const dropped = keys.filter((key) => {
        const record = view.get(ledgerRowKind, key)
        return record !== null && record.token <= token
      })
      for (const key of dropped) batch.delete(key)
      return dropped.length === 0 ? null : { kind: 'documents' }
    })
  }

  /** Deletes some of the expired rows. */
  async sweep(): Promise<void> {
    await this.#database.write(async (view, batch) =>
      (await this.#sweepWithin(view, batch)) ? { kind: 'scratch documents' } : null
    )
  }

  #putExpiry(batch: WriteBatch, owner: string, stretch: number): void {
    if (this.#known.get(owner) === stretch) return
    this.#known.delete(owner)
    this.#known.set(owner, stretch)
    // The oldest entry comes first.
    if (this.#known.size > KNOWN_MAX)
      for (const oldest of this.#known.keys().take(1)) this.#known.delete(oldest)
    const entry: LedgerStretch = { owner, stretch }
    batch.putUncached(ledgerStretchKind, ledgerExpiryKey(this.#clock.now() + TTL_MS, entry), entry)
  }

  /** Adds the deletion of some expired rows to a batch, if a sweep is due; true if there were some. */
  async #sweepWithin(view: View, batch: WriteBatch): Promise<boolean> {
    const now = this.#clock.now()
    if (now < this.#sweepAtMs) return false
    this.#sweepAtMs = now + SWEEP_EVERY_MS
    const expiries = await view.keys(ledgerExpiriesUntil(now), STRETCHES_PER_SWEEP)
    let left = SWEPT_MAX
    for (const expiry of expiries) {
      const rows = await expiredRows(view, view.get(ledgerStretchKind, expiry)!, left)
      for (const key of rows) batch.deleteUncached(key)
      left -= rows.length
      if (left === 0) {
        // The next sweep deletes the rest of the stretch.
        this.#sweepAtMs = now
        break
      }
      batch.deleteUncached(expiry)
    }
    return expiries.length > 0
  }
}

/**
 * Lists the first pages of a stretch, and the sums of ranges that end within it. Earlier stretches have entries of their own:
 * those of an imported history were written later than the ones after them.
 */
async function expiredRows(view: View, { owner, stretch }: LedgerStretch, limit: number): Promise<Key[]> {
  const start = stretch * STRETCH_SLOTS
  const end = start + STRETCH_SLOTS
  const ranges = [
    ledgerPageKeys(owner, start, end - 1),
    ...LEDGER_SUM_SLOTS.map((slots, level) =>
      ledgerSumKeys(owner, level, Math.floor(start / slots), Math.floor(end / slots))
    )
  ]
  const keys: Key[] = []
  for (const range of ranges)
    if (keys.length < limit) keys.push(...(await view.keys(range, limit - keys.length)))
  return keys
}

/** Reads the rows at some numbers, one by one. */
function valuesAt(
  view: View,
  from: number,
  to: number,
  keyOf: (number: number) => Key
): (readonly [number, Uint8Array])[] {
  const found: (readonly [number, Uint8Array])[] = []
  for (let number = from; number < to; number++) {
    const record = view.get(ledgerRowKind, keyOf(number))
    if (record !== null) found.push([number, record.value])
  }
  return found
}

async function scanned<Row>(
  view: View,
  range: { readonly gte: Key; readonly lt: Key },
  reverse: boolean,
  limit: number,
  rowOf: (number: number, value: Uint8Array) => Row
): Promise<Row[]> {
  const rows: Row[] = []
  for await (const [key, { value }] of view.scan(ledgerRowKind, range, {
    reverse,
    expected: Math.min(limit, 64)
  })) {
    rows.push(rowOf(numberInLedgerKey(key), value))
    if (rows.length === limit) break
  }
  return rows
}
