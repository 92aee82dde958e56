import { ClassicLevel } from 'classic-level'
import type { Pubkey } from '../../../src/chain/pubkey.ts'
import { splitCursor } from '../../../src/market/cursor.ts'
import { RecordCache } from '../record-cache.ts'
import {
  addressIn,
  formatKey,
  horizonKey,
  keyAfter,
  keysFrom,
  keysOf,
  lostRangesKey,
  slotKey,
  type Key
} from '../../codec/keys.ts'
import { formatKind, horizonKind, slotKind } from '../../codec/kinds.ts'
import { isSumOfLedger } from '../../codec/ledger-row.ts'
import { lostRangesKind } from '../../codec/lost-ranges.ts'
import { isSoundRecord, packRecord, unpackRecord } from '../../codec/record.ts'
import type { RowHorizon } from '../../port.ts'
import { DamagedKeys, damageText } from '../damaged-keys.ts'
import { ARCHIVE_FORMAT, FORMAT } from '../format.ts'
import { ENGINE } from '../engine-options.ts'
import type { FileDamage } from '../engine-files/store-check.ts'
import type { Level } from '../level.ts'
import { View } from '../view.ts'
import { WriteBatch } from '../write-batch.ts'
import { DERIVED, stageDerived, stageHorizon } from './derived-records.ts'
import { holdsEntriesOnly, isEntry, stageEntries } from './documents.ts'
import { collectLostRows, mendLists } from './lists.ts'
import { lettersIn, nameOf, overlap, slotsIn, type Letter, type LostRange } from './lost-records.ts'

/** Records that are written at a time: a few megabytes. */
const RECORDS_PER_BATCH = 1_000
/** The format, documents, ledgers, tenants and API keys of an earlier version, and the chain that the store follows. */
const ADMINISTRATION: readonly Letter[] = ['v', 'D', 'E', 'y', 'k', 'f']
/** Derived kinds: lost records of them are recomputed. */
const MADE_AGAIN: readonly Letter[] = ['v', 'R', 'd', 'c', 'o', 't', 'w', 'i', ...Object.keys(DERIVED)]

const CANDLES: readonly Letter[] = ['c', 'o']

/** Records that a repair could neither read nor recompute. */
export interface Loss {
  /** Name in words, such as `pool events`. */
  readonly kind: string
  readonly reason: string
  /** Slots of the loss, both ends included; null if any slot may be meant. */
  readonly slots: { readonly from: number; readonly to: number } | null
}

export interface RebuildOptions {
  readonly rows: boolean
  /** Retention of rows, counted back from the head's block time; null means for ever. */
  readonly retentionSeconds: number | null
  readonly nowMs: number
}

export interface Rebuilt {
  /** Why records could not be read. */
  readonly reasons: readonly string[]
  readonly losses: readonly Loss[]
  /** Slots of the store, both ends included; null if no slot can be read. */
  readonly slots: { readonly from: number; readonly to: number } | null
  /** Whether the newest slot may be lost: no block can be folded on a store with an unknown end. */
  readonly isHeadLost: boolean
  /** Mints whose candles are to be folded again from their trades. */
  readonly candleMints: readonly Pubkey[]
  /** Records that were copied. */
  readonly records: number
}

/**
 * Writes the readable records of a store into a new one, and recomputes derived records. Trades by mint and by wallet are
 * recomputed from each other, indexes from the records that they list. With `rows` false, only administrative records are
 * copied. A lost horizon of rows is set by the retention.
 */
export async function rebuildStore(
  from: string,
  into: string,
  damage: readonly FileDamage[],
  options: RebuildOptions
): Promise<Rebuilt> {
  const source = await opened(from)
  try {
    const target = await opened(into)
    try {
      const lost = await lostRanges(source, damage)
      return await rebuilt(source, target, lost, options)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function opened(directory: string): Promise<Level> {
  const level: Level = new ClassicLevel(directory, ENGINE)
  await level.open()
  return level
}

/** Ranges in damaged files, and records that fail their own checksum. */
async function lostRanges(source: Level, damage: readonly FileDamage[]): Promise<LostRange[]> {
  const damaged = new DamagedKeys(damage)
  const lost: LostRange[] = damaged.ranges.map((found) => ({ keys: found.keys, reason: damageText(found) }))
  for await (const [key, value] of source.iterator())
    if (damaged.at(key) === null && !isSoundRecord(key, value))
      lost.push({
        keys: { gte: key, lt: keyAfter(key) },
        reason: `the record ${key.toString('hex')} does not match its checksum`
      })
  return lost
}

async function rebuilt(
  source: Level,
  target: Level,
  lost: LostRange[],
  { rows, retentionSeconds, nowMs }: RebuildOptions
): Promise<Rebuilt> {
  const letters = new Set(lost.flatMap(({ keys }) => lettersIn(keys)))
  const isLost = (key: Key): boolean =>
    lost.some(({ keys }) => overlap(keys, { gte: key, lt: keyAfter(key) }))
  // Recomputed as a whole: an index must not name lost records.
  const derived = Object.keys(DERIVED).filter(
    (letter) => letters.has(letter) || letters.has(DERIVED[letter]!)
  )
  const isCopied = (letter: Letter): boolean => {
    if (!rows) return ADMINISTRATION.includes(letter)
    // Kept blocks must have no hole, so all are left out if some are lost.
    return !derived.includes(letter) && !(letter === 'd' && letters.has('d'))
  }
  // An archive has each trade once. The next import makes it again.
  const isReferred = (await source.keys({ ...keysOf('T'), limit: 1 }).all()).length > 0
  const found = rows ? await collectLostRows(source, lost, { letters, isLost, isReferred }) : null
  let records = 0
  let batch = target.batch()
  const flush = async (): Promise<void> => {
    await batch.write({ sync: true })
    batch = target.batch()
  }
  for await (const [key, value] of source.iterator()) {
    const letter = String.fromCharCode(key[0]!)
    if (isLost(key) || !isCopied(letter) || (letter === 'D' && letters.has('D') && isEntry(key))) continue
    // Without sums and their state, a ledger is summed up from its pages again.
    if (letter === 'E' && letters.has('E') && isSumOfLedger(key)) continue
    batch.put(key, value)
    if (++records % RECORDS_PER_BATCH === 0) await flush()
  }
  const format = isReferred ? ARCHIVE_FORMAT : FORMAT
  batch.put(formatKey(), Buffer.from(packRecord(formatKind, formatKey(), format)))
  await flush()
  const view = new View(target, new RecordCache(0), new DamagedKeys([]), null)
  try {
    if (found !== null) await mendLists(target, view, found)
    if (letters.has('D')) await stageEntries(target, view, nowMs)
    for (const letter of derived) await stageDerived(target, view, letter)
    const horizon =
      letters.has('R') && retentionSeconds !== null
        ? await stageHorizon(target, view, retentionSeconds)
        : view.get(horizonKind, horizonKey())
    const slots = await slotsOf(source, isLost)
    const losses = lossesOf(lost, horizon, isReferred)
    if (rows && losses.length > 0) await stageLosses(target, view, lost)
    const beyond = { gte: slots === null ? keysOf('b').gte : slotKey(slots.to + 1), lt: keysOf('b').lt }
    return {
      reasons: lost.map(({ reason }) => reason),
      losses,
      slots,
      isHeadLost: lost.some(({ keys }) => overlap(keys, beyond)),
      candleMints: rows ? await mintsIn(view, lost) : [],
      records
    }
  } finally {
    view.retire()
  }
}

/** Stores the lost ranges, in addition to those lost before. */
async function stageLosses(target: Level, view: View, lost: readonly LostRange[]): Promise<void> {
  const key = lostRangesKey()
  const ranges = lost.map(({ keys }) => keys)
  const isForgotten = ranges.some((range) => overlap(range, { gte: key, lt: keyAfter(key) }))
  const all = { gte: Buffer.of(0), lt: Buffer.of(0xff) }
  const batch = new WriteBatch(target)
  const known = view.get(lostRangesKind, key) ?? []
  batch.put(lostRangesKind, key, isForgotten ? [all] : [...known, ...ranges])
  await batch.write()
}

/**
 * Kinds that are lost for good. Rows that are stored twice count only if both may be lost, or in an archive, which has each
 * trade once (`isReferred`). Candles count only if they begin below the horizon of rows.
 */
function lossesOf(lost: readonly LostRange[], horizon: RowHorizon | null, isReferred: boolean): Loss[] {
  const letters = new Set(lost.flatMap(({ keys }) => lettersIn(keys)))
  const isLostForGood = isReferred || (letters.has('t') && letters.has('w'))
  const isMadeAgain = (letter: Letter): boolean => {
    if (letter === 't' || letter === 'w') return !isLostForGood
    if (letter in DERIVED) return !letters.has(DERIVED[letter]!)
    return MADE_AGAIN.includes(letter)
  }
  return lost.flatMap(({ keys, reason }) => {
    const found = lettersIn(keys)
    const losses: Loss[] = found
      .filter((letter) => !isMadeAgain(letter) && !(letter === 'D' && holdsEntriesOnly(keys)))
      .map((letter) => ({ kind: nameOf(letter), reason, slots: slotsIn(keys, letter) }))
    if (horizon !== null && CANDLES.some((letter) => found.includes(letter))) {
      const slots = { from: 0, to: splitCursor(horizon.cursor).slot - 1 }
      losses.push({ kind: nameOf('c'), reason, slots })
    }
    return losses
  })
}

async function slotsOf(source: Level, isLost: (key: Key) => boolean): Promise<Rebuilt['slots']> {
  let from: number | null = null
  let to = 0
  for await (const [key, value] of source.iterator(keysOf('b'))) {
    if (isLost(key)) continue
    to = unpackRecord(slotKind, key, value).slot
    from ??= to
  }
  return from === null ? null : { from, to }
}

/** Mints with pairs whose candles were in a range that is lost. */
async function mintsIn(view: View, lost: readonly LostRange[]): Promise<Pubkey[]> {
  const mints: Pubkey[] = []
  for (const key of await view.keys(keysOf('p'))) {
    const mint = addressIn(key)
    const series = CANDLES.map((letter) => keysFrom(Buffer.concat([Buffer.from(letter), mint])))
    if (lost.some(({ keys }) => series.some((range) => overlap(keys, range)))) mints.push(mint)
  }
  return mints
}
