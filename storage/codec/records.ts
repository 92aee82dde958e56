import type { Pubkey } from '../../src/chain/pubkey.ts'
import { addressOf, RECORD_NAMES } from '../../src/market/records.ts'
import type { AddressOf, LatestName, RecordName, RowOf } from '../../src/market/records.ts'
import { activityKind } from './activity.ts'
import { NO_KEY, packedCandles, packedRecords, packedRows, packedSingly } from './block-parts.ts'
import type { BlockPart } from './block-parts.ts'
import { curveKind } from './curve.ts'
import { activityKey, addressKey, logKey, pairsKey, solPriceKey, totalsKey } from './keys.ts'
import type { Key } from './keys.ts'
import { solPriceKind } from './kinds.ts'
import { launchKind } from './launch.ts'
import { logEntryKind } from './log-entry.ts'
import { pairsKind } from './pair.ts'
import { poolKind } from './pool.ts'
import { poolEventCodec } from './pool-event.ts'
import type { RecordKind } from './record.ts'
import { tokenKind } from './token.ts'
import { totalsKind } from './totals.ts'
import { tradeCodec } from './trade.ts'

/** The stored form of a record. */
export interface StoredRecord<Row> {
  readonly inBlock: BlockPart<Row>
}

/** A record whose rows are each stored under the key of their address. */
export interface KeyedRecord<Row, Address> extends StoredRecord<Row> {
  readonly kind: RecordKind<Row>
  readonly keyOf: (address: Address) => Key
}

/** A record by an address of the chain. */
export interface AddressedRecord<Row> extends KeyedRecord<Row, Pubkey> {
  /** The first byte of its keys. */
  readonly letter: string
  /** The column of the address. */
  readonly column: string
  /** Name for the operator. */
  readonly title: string
}

/** The stored form of every record. Each adapter has its own store for records that differ from their shape. */
export const STORED = {
  trades: { inBlock: packedRows(tradeCodec) },
  poolEvents: { inBlock: packedRows(poolEventCodec) },
  candles: { inBlock: packedCandles },
  launches: addressed('launches', { letter: 'l', column: 'mint', title: 'launches', kind: launchKind }),
  pairs: { inBlock: packedSingly(packedRecords(pairsKind, ([pair]) => pairsKey(pair!.mint))) },
  solPrices: {
    kind: solPriceKind,
    keyOf: solPriceKey,
    inBlock: packedRecords(solPriceKind, () => NO_KEY)
  },
  activity: keyed('activity', activityKind, ({ of, owner, hour }) => activityKey(of, owner, hour)),
  tokens: addressed('tokens', { letter: 'm', column: 'mint', title: 'tokens', kind: tokenKind }),
  pools: addressed('pools', { letter: 'q', column: 'pool', title: 'pools', kind: poolKind }),
  curves: addressed('curves', { letter: 'g', column: 'mint', title: 'bonding curves', kind: curveKind }),
  totals: keyed('totals', totalsKind, totalsKey),
  log: { inBlock: packedRecords(logEntryKind, ({ channel, slot }) => logKey(channel, slot)) }
} satisfies {
  readonly [Name in RecordName]: StoredRecord<RowOf<Name>> &
    Partial<KeyedRecord<RowOf<Name>, AddressOf<Name>>>
}

type Stored = typeof STORED
/** Records whose rows are each stored under the key of their address. */
export type StoredName = {
  [Name in RecordName]: Stored[Name] extends { readonly kind: unknown } ? Name : never
}[RecordName]
/** Records by an address of the chain. */
export type AddressedName = {
  [Name in LatestName]: Stored[Name] extends { readonly letter: string } ? Name : never
}[LatestName]

export const ADDRESSED = RECORD_NAMES.filter((name) => 'letter' in STORED[name]) as readonly AddressedName[]

/** The codec and the key of a record. */
export function storedRecord<Name extends StoredName>(name: Name): KeyedRecord<RowOf<Name>, AddressOf<Name>> {
  return STORED[name] as unknown as KeyedRecord<RowOf<Name>, AddressOf<Name>>
}

/** Returns the stored form of a record by an address of the chain. */
export function addressedRecord<Name extends AddressedName>(name: Name): AddressedRecord<RowOf<Name>> {
  return STORED[name]
}

/** The table of a record by an address of the chain in a cluster. */
export const tableOf = (name: AddressedName): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The rows of a record within a packed block. */
export function blockPart<Name extends RecordName>(name: Name): BlockPart<RowOf<Name>> {
  return STORED[name].inBlock
}

function keyed<Name extends RecordName>(
  name: Name,
  kind: RecordKind<RowOf<Name>>,
  keyOf: (address: AddressOf<Name>) => Key
): KeyedRecord<RowOf<Name>, AddressOf<Name>> {
  return { kind, keyOf, inBlock: packedRecords(kind, (row) => keyOf(addressOf(name, row))) }
}

function addressed<Name extends LatestName>(
  name: Name,
  stored: Omit<AddressedRecord<RowOf<Name>>, 'keyOf' | 'inBlock'>
): AddressedRecord<RowOf<Name>> {
  const keyOf = (address: Pubkey): Key => addressKey(stored.letter, address)
  const inBlock = packedRecords(stored.kind, (row) => keyOf(addressOf(name, row) as Pubkey))
  return { ...stored, keyOf, inBlock }
}
