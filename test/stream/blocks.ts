import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import type { PoolEventRow, SlotRow, TradeRow } from '../../src/market/rows.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { emptyCommit } from '../http/commits.ts'
import { key } from '../market/world.ts'

/** Few mints, pools, wallets and venues, so that events share channels. */
export const MINTS = [key(1), key(2)]
export const POOLS = [key(11), key(12)]
export const WALLETS = [key(60), key(61)]
export const VENUES = VENUE_IDS.slice(0, 2)

/** An event as a number that determines its mint, pool, wallet and venue. */
export type EventSpec = number

const CASH = key(99)

/** Returns a block of small events: even numbers are trades, odd ones pool events. */
export function blockOf(slot: number, specs: readonly EventSpec[]): BlockCommit {
  const trades: TradeRow[] = []
  const poolEvents: PoolEventRow[] = []
  let position = 0
  for (const spec of specs) {
    const origin = originOf(slot, position, spec)
    if (spec % 2 === 0) {
      trades.push(tradeOf(origin, spec))
      position += 4
    } else {
      poolEvents.push({ ...origin, body: poolChange(spec) })
      position += 3
    }
  }
  const empty = emptyCommit(slot, 1_700_000_000 + slot)
  const counted: SlotRow = { ...empty.slot, trades: trades.length, events: specs.length, receivedAtMs: slot }
  return { ...empty, slot: counted, trades, poolEvents }
}

function originOf(slot: number, position: number, spec: EventSpec) {
  return {
    cursor: cursorAt(slot, position),
    slot,
    blockTime: 1_700_000_000 + slot,
    signature: new Uint8Array(64).fill(position % 251),
    txIndex: position,
    ixIndex: 0,
    innerIxIndex: null,
    venue: VENUES[spec % 3 === 0 ? 0 : 1]!,
    program: key(50),
    pool: POOLS[spec % 5 < 2 ? 0 : 1]!,
    user: WALLETS[spec % 11 < 5 ? 0 : 1]!,
    feePayer: key(60),
    commitment: 'confirmed' as const
  }
}

function tradeOf(origin: ReturnType<typeof originOf>, spec: EventSpec): TradeRow {
  const mint = MINTS[spec % 7 < 3 ? 0 : 1]!
  return {
    ...origin,
    mint,
    inMint: CASH,
    outMint: mint,
    inDecimals: 9,
    outDecimals: 6,
    inAmount: 1_000n,
    outAmount: 2_000n,
    traderIn: 1_000n,
    traderOut: 2_000n,
    fees: [],
    reserves: null,
    exact: 'in',
    cashSide: 'in',
    price: 0.5,
    cashUsd: 100,
    priceForming: spec % 4 === 0,
    route: null
  }
}

function poolChange(spec: EventSpec): PoolEventRow['body'] {
  return {
    kind: 'pool',
    event: 'create',
    baseMint: MINTS[spec % 2]!,
    quoteMint: CASH,
    baseVault: null,
    quoteVault: null,
    feeBps: null,
    initialBase: null,
    initialQuote: null
  } as unknown as PoolEventRow['body']
}
