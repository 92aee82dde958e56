import { isUnstated, type ChainEvent } from '../chain/events.ts'
import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { ActivityHour, HourAddress, TotalsRow } from './activity-rows.ts'
import type { CashList } from './cash.ts'
import { curveMints } from './curves.ts'
import { launchMints } from './launches.ts'
import { listedMints, listingOf } from './listing.ts'
import type { LogAddress, LogEntry } from './log.ts'
import { pairKey, pairsOf } from './pairs.ts'
import type { CurveRow, PoolRow, TokenRow } from './registry-rows.ts'
import type {
  CandleAddress,
  CandleUpsert,
  LaunchRow,
  PairAddress,
  PairRow,
  PoolEventRow,
  SlotRow,
  SolPriceRow,
  TradeRow
} from './rows.ts'

/**
 * How the rows of a record relate. `list`: rows never change, in cursor order. `latest`: one row per address, which a
 * later block replaces; a fold reads it first. `series`: one row per address and time, likewise. `single`: one row.
 */
export type Shape = 'list' | 'latest' | 'series' | 'single'

/** A kind of rows that blocks write. */
export interface MarketRecord<Row, Address, S extends Shape = Shape> {
  readonly shape: S
  readonly addressOf: (row: Row) => Address
  /** Names an address in a Map. */
  readonly textOf: (address: Address) => string
}

/** A record of shape `latest`. */
export interface LatestRecord<Row, Address> extends MarketRecord<Row, Address, 'latest'> {
  /** The addresses whose row an event can change, or whose price the event needs. */
  readonly affectedBy: (event: ChainEvent, cash: CashList) => readonly Address[]
  /** Trades with one pool, venue and pair of mints affect the same addresses, whoever trades: one of them is asked for all. */
  readonly isPerPool: boolean
}

const byCursor = ({ cursor }: { readonly cursor: number }): string => String(cursor)
const hourText = ({ of, owner, hour }: HourAddress): string => `${of}${pubkeyMapKey(owner)}${hour}`

/**
 * Every record, in the order of a stored block; a new record must be added at the end. `OwnStores`
 * (`storage/port.ts`) has the records that differ from their shape.
 */
export const RECORDS = {
  trades: list<TradeRow, TradeRow>((row) => row, byCursor),
  poolEvents: list<PoolEventRow, PoolEventRow>((row) => row, byCursor),
  candles: series<CandleUpsert, CandleAddress>(
    ({ mint, cash, interval, candle: { ts } }) => ({ mint, cash, interval, ts }),
    ({ mint, cash, interval, ts }) => `${pairKey(mint, cash)}${interval}${ts}`
  ),
  launches: latestPerPool<LaunchRow, Pubkey>((row) => row.mint, pubkeyMapKey, launchMints),
  pairs: latestPerPool<PairRow, PairAddress>(
    (row) => row,
    ({ mint, cash }) => pairKey(mint, cash),
    pairsOf
  ),
  solPrices: series<SolPriceRow, number>((row) => row.minute, String),
  activity: series<ActivityHour, HourAddress>(({ of, owner, hour }) => ({ of, owner, hour }), hourText),
  tokens: latestPerPool<TokenRow, Pubkey>(
    (row) => row.mint,
    pubkeyMapKey,
    (event, cash) => listedMints(listingOf(event, cash))
  ),
  pools: latestPerPool<PoolRow, Pubkey>(
    (row) => row.pool,
    pubkeyMapKey,
    (event) => (event.kind === 'trade' && isUnstated(event, 'pool') ? [] : [event.pool])
  ),
  curves: latestPerPool<CurveRow, Pubkey>((row) => row.mint, pubkeyMapKey, curveMints),
  totals: single<TotalsRow>(),
  log: list<LogEntry, LogAddress>(
    ({ channel, slot }) => ({ channel, slot }),
    ({ channel, slot }) => `${channel} ${slot}`
  )
}

type Records = typeof RECORDS
export type RecordName = keyof Records
export type RowOf<Name extends RecordName> = Parameters<Records[Name]['addressOf']>[0]
export type AddressOf<Name extends RecordName> = ReturnType<Records[Name]['addressOf']>

type NameOf<S extends Shape> = {
  [Name in RecordName]: Records[Name]['shape'] extends S ? Name : never
}[RecordName]
export type LatestName = NameOf<'latest'>
export type SingleName = NameOf<'single'>
/** Records that are found by an address, of which the newest row counts. */
export type KeyedName = NameOf<'latest' | 'series'>
/** Records with any number of rows. */
export type ManyName = Exclude<RecordName, SingleName>
/** Records whose rows a fold reads first. The newest price of SOL is in the state (`sol-usd.ts`). */
export type ReadName = Exclude<KeyedName, 'solPrices'>

export const RECORD_NAMES = Object.keys(RECORDS) as readonly RecordName[]
export const LATEST = namesOf('latest') as readonly LatestName[]
export const SINGLE = namesOf('single') as readonly SingleName[]
export const KEYED = namesOf('latest', 'series') as readonly KeyedName[]
export const MANY = namesOf('list', 'latest', 'series') as readonly ManyName[]
/** Records of shape `latest` come first: the current part of a series is cached with their rows. */
export const READ_FIRST: readonly ReadName[] = [...LATEST, 'candles', 'activity']

/** Rows of a block, by record. */
export type RecordRows = { readonly [Name in ManyName]: readonly RowOf<Name>[] } & {
  /** Null if the block does not change it. */
  readonly [Name in SingleName]: RowOf<Name> | null
}

/**
 * The rows that a block produces. Lists are in cursor order. All but trades and events are absolute values, not
 * deltas.
 */
export interface BlockRows extends Omit<RecordRows, 'log'> {
  readonly slot: SlotRow
}

/** All changes of one block. The log contains its events on the stored channels, each once. */
export interface BlockCommit extends RecordRows {
  readonly slot: SlotRow
}

export const isSingle = (name: RecordName): name is SingleName => RECORDS[name].shape === 'single'

/** The address of a row. */
export function addressOf<Name extends RecordName>(name: Name, row: RowOf<Name>): AddressOf<Name> {
  return untyped(name).addressOf(row) as AddressOf<Name>
}

/** The text that names an address in a Map. */
export function addressText<Name extends RecordName>(name: Name, address: AddressOf<Name>): string {
  return untyped(name).textOf(address)
}

/** The text of a row's address. */
export function rowText<Name extends RecordName>(name: Name, row: RowOf<Name>): string {
  const { addressOf, textOf } = untyped(name)
  return textOf(addressOf(row))
}

/** Returns the last row at each address, at the place of the first. */
export function lastRows<Name extends RecordName>(name: Name, rows: readonly RowOf<Name>[]): RowOf<Name>[] {
  return [...new Map(rows.map((row) => [rowText(name, row), row])).values()]
}

/**
 * Returns an object with `make`'s result for each name. The caller ensures that each result is of the record with its
 * name.
 */
export function byName<Made>(names: readonly (keyof Made)[], make: (name: keyof Made) => unknown): Made {
  const made: Partial<Record<keyof Made, unknown>> = {}
  for (const name of names) made[name] = make(name)
  return made as Made
}

/** The rows of a block that changes nothing. */
export function noRows(): RecordRows {
  return byName<RecordRows>(RECORD_NAMES, (name) => (isSingle(name) ? null : []))
}

/** Merges the rows of blocks, oldest first, into those of one. Of several rows at one address the last counts. */
export function mergedRows(blocks: readonly BlockCommit[]): RecordRows {
  return byName<RecordRows>(RECORD_NAMES, (name) => {
    if (isSingle(name)) return blocks.findLast((block) => block[name] !== null)?.[name] ?? null
    const parts = blocks.map((block): readonly RowOf<ManyName>[] => block[name])
    const written = parts.filter(({ length }) => length > 0)
    if (written.length <= 1) return written[0] ?? []
    const rows = written.flat()
    return RECORDS[name].shape === 'list' ? rows : lastRows(name, rows)
  })
}

function list<Row, Address>(
  addressOf: (row: Row) => Address,
  textOf: (address: Address) => string
): MarketRecord<Row, Address, 'list'> {
  return { shape: 'list', addressOf, textOf }
}

function series<Row, Address>(
  addressOf: (row: Row) => Address,
  textOf: (address: Address) => string
): MarketRecord<Row, Address, 'series'> {
  return { shape: 'series', addressOf, textOf }
}

function latest<Row, Address>(
  addressOf: (row: Row) => Address,
  textOf: (address: Address) => string,
  affectedBy: LatestRecord<Row, Address>['affectedBy']
): LatestRecord<Row, Address> {
  return { shape: 'latest', addressOf, textOf, affectedBy, isPerPool: false }
}

function latestPerPool<Row, Address>(
  ...declared: Parameters<typeof latest<Row, Address>>
): LatestRecord<Row, Address> {
  return { ...latest(...declared), isPerPool: true }
}

function single<Row>(): MarketRecord<Row, null, 'single'> {
  return { shape: 'single', addressOf: () => null, textOf: () => '' }
}

function namesOf(...shapes: readonly Shape[]): RecordName[] {
  return RECORD_NAMES.filter((name) => shapes.includes(RECORDS[name].shape))
}

/** A record for code that treats all records alike. Its functions take only rows and addresses of their own record. */
const untyped = (name: RecordName): MarketRecord<unknown, unknown> =>
  RECORDS[name] as unknown as MarketRecord<unknown, unknown>
