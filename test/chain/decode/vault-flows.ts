import type { ChainEvent, LiquidityChange, PoolChange, Trade } from '../../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { publishedPools } from './published-accounts.ts'
import type { RawRecord } from './raw-record.ts'

/** The change of an account by a transaction's events, and by the node's balances. */
export interface AccountChange {
  readonly account: string
  /** `lamports` of a curve's own account, or base units of a vault. */
  readonly of: 'tokens' | 'lamports'
  readonly decoded: bigint
  readonly recorded: bigint
  /** The venues whose events touch the account. */
  readonly venues: readonly string[]
}

const SOL = 'So11111111111111111111111111111111111111112'
const text = pubkeyToBase58

interface Flow {
  readonly pool: string
  readonly mint: string
  readonly amount: bigint
  readonly venue: string
}

/**
 * Compares each vault that a call names by its published account list, or that an event touches. If no call names a vault
 * of an event's pool, the pool stands for it and has no tokens.
 */
export function vaultChanges(events: readonly ChainEvent[], raw: RawRecord): AccountChange[] {
  const holders = holdersOf(raw)
  const changes = new Map<string, AccountChange>()
  for (const { pool, mint, amount, venue } of flowsOf(events)) {
    const tokens = holders.vaults.get(pool + mint)
    const lamports = tokens === undefined && mint === SOL ? holders.lamports.get(pool) : undefined
    const account = tokens ?? lamports ?? pool
    const of = lamports === undefined ? 'tokens' : 'lamports'
    const before = changes.get(account + of)
    changes.set(account + of, {
      account,
      of,
      decoded: (before?.decoded ?? 0n) + amount,
      recorded: of === 'tokens' ? raw.tokenDifference(account) : raw.lamportDifference(account),
      venues: [...new Set([...(before?.venues ?? []), venue])]
    })
  }
  for (const account of holders.vaults.values()) {
    if (changes.has(`${account}tokens`)) continue
    const recorded = raw.tokenDifference(account)
    changes.set(`${account}tokens`, { account, of: 'tokens', decoded: 0n, recorded, venues: [] })
  }
  return [...changes.values()]
}

/** Maps pool and mint to the vault, and pool to the account of its lamports, by the calls' published lists. */
function holdersOf(raw: RawRecord) {
  const vaults = new Map<string, string>()
  const lamports = new Map<string, string>()
  for (const call of raw.calls) {
    for (const place of publishedPools(call)) {
      if (place.lamports !== null) lamports.set(place.pool, place.lamports)
      for (const vault of place.vaults) {
        const mint = raw.mintOf(vault)
        if (mint !== null) vaults.set(place.pool + mint, vault)
      }
    }
  }
  return { vaults, lamports }
}

function flowsOf(events: readonly ChainEvent[]): Flow[] {
  const liquidity = events.filter((event) => event.kind === 'liquidity')
  return events.flatMap((event) => {
    switch (event.kind) {
      case 'trade':
        return tradeFlows(event)
      case 'liquidity':
        return pairFlows(event, event.event === 'add' ? 1n : -1n, event.baseAmount, event.quoteAmount)
      case 'pool':
        return isCounted(event, liquidity)
          ? []
          : pairFlows(event, 1n, event.initialBase ?? 0n, event.initialQuote ?? 0n)
      case 'launch':
        return [
          {
            pool: text(event.pool),
            mint: text(event.baseMint),
            amount: event.supply ?? 0n,
            venue: event.venue
          }
        ]
      case 'curve':
        return []
    }
  })
}

/** Returns whether a pool's first deposit is also a separate event. */
function isCounted(pool: PoolChange, changes: readonly LiquidityChange[]): boolean {
  return changes.some((each) => each.ixIndex === pool.ixIndex && each.innerIxIndex === pool.innerIxIndex)
}

function pairFlows(event: LiquidityChange | PoolChange, sign: bigint, base: bigint, quote: bigint): Flow[] {
  const pool = text(event.pool)
  const { venue } = event
  // The untouched side of a one-sided change may be unnamed.
  return [
    { mint: event.baseMint, amount: sign * base },
    { mint: event.quoteMint, amount: sign * quote }
  ].flatMap(({ mint, amount }) =>
    mint === null || amount === 0n ? [] : [{ pool, mint: text(mint), amount, venue }]
  )
}

/**
 * Returns the vault movements of a fill, which enters one vault and leaves the other. Some fees leave a vault at once; DBC
 * keeps its protocol's and partner's fees in the vault until they are claimed.
 */
function tradeFlows(trade: Trade): Flow[] {
  const { venue } = trade
  const pool = text(trade.pool)
  const keepsFees = venue === 'meteora-dbc'
  const flow = (mint: Uint8Array, amount: bigint): Flow => ({ pool, mint: text(mint), amount, venue })
  const aside = trade.fees
    .filter(({ kind }) => LEAVING[venue]?.includes(kind))
    .map(({ mint, amount }) => flow(mint, -amount))
  return [
    flow(trade.inMint, keepsFees ? trade.traderIn : trade.inAmount),
    flow(trade.outMint, -(keepsFees ? trade.traderOut : trade.outAmount)),
    ...aside
  ]
}

/** Fees that a swap moves out of the pool's vaults, or that never reach them, besides the trader's amount. */
const LEAVING: Readonly<Record<string, readonly string[]>> = {
  'meteora-damm-v1': ['protocol'],
  'meteora-damm-v2': ['referral'],
  'meteora-dbc': ['referral'],
  'meteora-dlmm': ['host']
}
