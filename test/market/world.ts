import fc from 'fast-check'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import type {
  ChainEvent,
  CurveChange,
  Launch,
  LiquidityChange,
  PoolChange,
  Trade
} from '../../src/chain/events.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { CashList, USDC, USDT, WSOL } from '../../src/market/cash.ts'
import type { FoldOptions } from '../../src/market/fold.ts'

/** Returns an address made from a number. */
export function key(n: number): Pubkey {
  return Uint8Array.from({ length: 32 }, (_, i) => (i < 4 ? (n >> (8 * i)) & 255 : 7))
}

export const SOL = pubkeyFromBase58(WSOL)
export const USD_COIN = pubkeyFromBase58(USDC)
export const TETHER = pubkeyFromBase58(USDT)
export const TOKEN = key(1)
export const OTHER = key(2)
export const POOL = key(100)
export const PEGGED = key(900)

export const OPTIONS: FoldOptions = { cash: new CashList([PEGGED]), startingSolUsd: null }

/** A Monday, 2026-08-24 12:00:00 UTC. */
export const NOON = Date.UTC(2026, 7, 24, 12) / 1000

const ORIGIN = {
  venue: 'pumpswap',
  program: key(200),
  pool: POOL,
  ixIndex: 2,
  innerIxIndex: null,
  user: key(300)
} as const

export function trade(fields: Partial<Trade> = {}): Trade {
  const fill = { inMint: SOL, outMint: TOKEN, inDecimals: 9, outDecimals: 6 }
  const amounts = { inAmount: 1_000_000_000n, outAmount: 1_000_000_000n }
  const totals = { traderIn: amounts.inAmount, traderOut: amounts.outAmount }
  const rest = { fees: [], reserves: null, exact: null, route: null }
  return { kind: 'trade', ...ORIGIN, ...fill, ...amounts, ...totals, ...rest, ...fields }
}

/** Returns a buy of the token: lamports in, base units of a 6-decimals token out. */
export function buy(lamports: bigint, tokens: bigint, fields: Partial<Trade> = {}): Trade {
  return trade({ inAmount: lamports, outAmount: tokens, ...fields })
}

export function sell(tokens: bigint, lamports: bigint, fields: Partial<Trade> = {}): Trade {
  const mints = { inMint: TOKEN, inDecimals: 6, outMint: SOL, outDecimals: 9 }
  return trade({ ...mints, inAmount: tokens, outAmount: lamports, ...fields })
}

/** Returns a sale of SOL for dollars at a price in USD; one SOL by default. */
export function solSale(usd: number, lamports = 1_000_000_000n, dollars = USD_COIN): Trade {
  const outAmount = (BigInt(Math.round(usd * 1e6)) * lamports) / 1_000_000_000n
  const mints = { inMint: SOL, inDecimals: 9, outMint: dollars, outDecimals: 6 }
  return trade({ ...mints, inAmount: lamports, outAmount, pool: key(101) })
}

export function liquidity(fields: Partial<LiquidityChange> = {}): LiquidityChange {
  const mints = { baseMint: TOKEN, quoteMint: SOL, baseDecimals: 6, quoteDecimals: 9 }
  const amounts = { baseAmount: 5n, quoteAmount: 7n, traderBase: 5n, traderQuote: 7n }
  const none = { lpAmount: null, position: null }
  return { kind: 'liquidity', event: 'add', ...ORIGIN, ...mints, ...amounts, ...none, ...fields }
}

export function launch(fields: Partial<Launch> = {}): Launch {
  const names = { name: 'Grain', symbol: 'GRN', uri: 'https://example.org/grn.json' }
  const mints = { baseMint: TOKEN, quoteMint: SOL, creator: key(301), curve: POOL }
  return {
    kind: 'launch',
    event: 'create',
    ...ORIGIN,
    ...mints,
    ...names,
    decimals: 6,
    supply: null,
    ...fields
  }
}

export function curve(event: CurveChange['event'], fields: Partial<CurveChange> = {}): CurveChange {
  const mints = { baseMint: TOKEN, quoteMint: SOL, curve: POOL }
  const state = { progressPct: null, destination: null, reserves: null }
  return { kind: 'curve', event, ...ORIGIN, ...mints, ...state, ...fields }
}

export function poolChange(fields: Partial<PoolChange> = {}): PoolChange {
  const mints = { baseMint: TOKEN, quoteMint: SOL, baseVault: null, quoteVault: null }
  return {
    kind: 'pool',
    event: 'create',
    ...ORIGIN,
    ...mints,
    feeBps: 25,
    initialBase: null,
    initialQuote: null,
    ...fields
  }
}

/** Returns a block of events, each in its own transaction. */
export function block(slot: number, blockTime: number, events: readonly ChainEvent[]): DecodedBlock {
  return {
    slot,
    blockTime,
    parentSlot: slot - 1,
    blockhash: null,
    receivedAtMs: blockTime * 1000 + 400,
    commitment: 'confirmed',
    transactions: events.length + 3,
    entries: events.map((event, txIndex) => ({
      signature: Uint8Array.from({ length: 64 }, (_, i) => (i < 4 ? (slot >> (8 * i)) & 255 : txIndex & 255)),
      txIndex,
      feePayer: key(400),
      event
    }))
  }
}

const TOKENS = [TOKEN, OTHER, key(3)]

/** Amounts from dust to large, spread over their magnitudes. */
const amount = fc
  .tuple(fc.integer({ min: 0, max: 13 }), fc.integer({ min: 1, max: 99 }))
  .map(([magnitude, digits]) => BigInt(digits) * 10n ** BigInt(magnitude))

const POOLS = [POOL, key(102), key(103)]

/** Returns the token account of a pool for a mint. It never changes, as on the chain. */
export function vaultOf(pool: Pubkey, mint: Pubkey): Pubkey {
  return Uint8Array.from(pool, (byte, i) => (i < 4 ? byte ^ mint[i]! : 9))
}

/** Trader, pool, stated reserves and named vaults of a trade. */
const circumstances = fc
  .record({
    venue: fc.constantFrom('pumpswap', 'pumpfun', 'meteora-dbc'),
    pool: fc.constantFrom(...POOLS),
    user: fc.integer({ min: 300, max: 306 }).map(key),
    reserves: fc.option(
      fc.record(
        { in: amount, out: amount, virtualIn: amount, virtualOut: amount },
        { requiredKeys: ['in', 'virtualIn'], noNullPrototype: true }
      )
    ),
    names: fc.constantFrom<readonly ('in' | 'out')[]>([], ['in', 'out'], ['in'], ['out'])
  })
  .map(({ names, ...fields }) => (of: Pick<Trade, 'inMint' | 'outMint'>): Partial<Trade> => {
    const vaultAt = (side: 'in' | 'out'): Pubkey | null =>
      names.includes(side) ? vaultOf(fields.pool, of[`${side}Mint`]) : null
    return { ...fields, ...(names.length > 0 && { vaults: { in: vaultAt('in'), out: vaultAt('out') } }) }
  })

const tokenTrade = fc
  .record({
    mint: fc.constantFrom(...TOKENS),
    cash: fc.constantFrom(SOL, SOL, USD_COIN, PEGGED),
    isBuy: fc.boolean(),
    cashAmount: amount,
    tokenAmount: amount,
    circumstances
  })
  .map(({ mint, cash, isBuy, cashAmount, tokenAmount, circumstances }) => {
    const cashDecimals = cash === SOL ? 9 : 6
    const sides = isBuy
      ? { inMint: cash, inDecimals: cashDecimals, outMint: mint }
      : { outMint: cash, outDecimals: cashDecimals, inMint: mint }
    return isBuy
      ? buy(cashAmount, tokenAmount, { ...sides, ...circumstances({ inMint: cash, outMint: mint }) })
      : sell(tokenAmount, cashAmount, { ...sides, ...circumstances({ inMint: mint, outMint: cash }) })
  })

const solTrade = fc
  .record({
    usd: fc.double({ min: 50, max: 400, noNaN: true }),
    lamports: amount,
    dollars: fc.constantFrom(USD_COIN, TETHER)
  })
  .map(({ usd, lamports, dollars }) => solSale(usd, lamports, dollars))

const swap = fc
  .record({
    inMint: fc.constantFrom(...TOKENS),
    outMint: fc.constantFrom(...TOKENS),
    inAmount: amount,
    circumstances
  })
  .filter(({ inMint, outMint }) => inMint !== outMint)
  .map(({ circumstances, ...fields }) => trade({ ...fields, inDecimals: 6, ...circumstances(fields) }))

const baseMint = fc.constantFrom(...TOKENS)
const quoteMint = fc.constantFrom(SOL, USD_COIN, OTHER)
const pool = fc.constantFrom(...POOLS)

const anyLaunch = fc
  .record({ baseMint, curve: pool, decimals: fc.constantFrom(6, null) })
  .map((fields) => launch({ ...fields, pool: fields.curve, venue: 'pumpfun' }))

const anyCurve = fc
  .record({
    event: fc.constantFrom('create', 'complete', 'migrate'),
    baseMint,
    quoteMint: fc.option(fc.constant(SOL)),
    curve: pool,
    reserves: fc.option(
      fc.record({ realBase: amount, virtualBase: amount, virtualQuote: amount }, { noNullPrototype: true })
    )
  })
  .map(({ event, ...fields }) => curve(event, { ...fields, pool: fields.curve, venue: 'pumpfun' }))

const anyLiquidity = fc
  .record({ baseMint: fc.option(baseMint), quoteMint: fc.option(quoteMint), pool })
  .filter((fields) => fields.baseMint !== fields.quoteMint)
  .map((fields) => liquidity(fields))

const anyPoolChange = fc
  .record({
    event: fc.constantFrom('create', 'update'),
    baseMint,
    quoteMint,
    pool,
    statesBase: fc.boolean(),
    statesQuote: fc.boolean(),
    isReversed: fc.boolean()
  })
  .filter((fields) => fields.baseMint !== fields.quoteMint)
  .map(({ isReversed, statesBase, statesQuote, ...fields }) => {
    const { pool, event } = fields
    const [baseMint, quoteMint] = isReversed
      ? [fields.quoteMint, fields.baseMint]
      : [fields.baseMint, fields.quoteMint]
    const baseVault = statesBase ? vaultOf(pool, baseMint) : null
    const quoteVault = statesQuote ? vaultOf(pool, quoteMint) : null
    return poolChange({ event, pool, baseMint, quoteMint, baseVault, quoteVault })
  })

export const anyEvent: fc.Arbitrary<ChainEvent> = fc.oneof(
  { arbitrary: tokenTrade, weight: 8 },
  { arbitrary: solTrade, weight: 2 },
  { arbitrary: swap, weight: 1 },
  { arbitrary: anyLaunch, weight: 1 },
  { arbitrary: anyCurve, weight: 1 },
  { arbitrary: anyLiquidity, weight: 1 },
  { arbitrary: anyPoolChange, weight: 1 }
)

const forwardSeconds = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 40 }), weight: 6 },
  { arbitrary: fc.integer({ min: 41, max: 4_000 }), weight: 2 },
  { arbitrary: fc.integer({ min: 4_001, max: 700_000 }), weight: 1 }
)

const anySeconds = fc.oneof(
  { arbitrary: forwardSeconds, weight: 4 },
  { arbitrary: fc.integer({ min: -5_000, max: -1 }), weight: 1 }
)

function chainOf(seconds: fc.Arbitrary<number>): fc.Arbitrary<DecodedBlock[]> {
  const step = fc.record({
    slots: fc.integer({ min: 1, max: 3 }),
    seconds,
    events: fc.array(anyEvent, { maxLength: 8 })
  })
  return fc.array(step, { minLength: 1, maxLength: 25 }).map((steps) => {
    let slot = 300_000_000
    let time = NOON
    return steps.map((at) => block((slot += at.slots), (time += at.seconds), at.events))
  })
}

/** Blocks in slot order whose times never fall, as on the chain. */
export const anyChain = chainOf(forwardSeconds)

/** Blocks in slot order whose times may fall. */
export const anyChainWithFallingTimes = chainOf(anySeconds)

/** Blocks in slot order whose times are up to a minute below an earlier one. */
export const anyChainWithUnsteadyTimes = fc
  .tuple(anyChain, fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 25, maxLength: 25 }))
  .map(([chain, late]) => chain.map((block, i) => ({ ...block, blockTime: block.blockTime - late[i]! })))
