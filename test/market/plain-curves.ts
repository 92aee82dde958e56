import { pubkeyMapKey, samePubkey } from '../../src/chain/pubkey.ts'
import type { CurveReserves, StatedCurve } from '../../src/chain/events.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { ratio } from '../../src/market/amount.ts'
import { curveCourse, forSaleOf } from '../../src/market/curve-course.ts'
import { priceOf } from '../../src/market/price.ts'
import type { CurveRow } from '../../src/market/registry-rows.ts'
import type { Listed } from './plain-market.ts'
import { SOL } from './world.ts'

const STAGES = ['bonding', 'graduating', 'graduated'] as const

/** A curve's event with the figures that it states about the curve. */
interface Step {
  readonly told: Listed
  readonly stage: number
  readonly quote: Pubkey | null
  readonly decimals: number | null
  readonly quoteDecimals: number | null
  /** Null if the event states no reserves. */
  readonly reserves: CurveReserves | null
  readonly progressPct: number | null
  readonly statedCurve: StatedCurve
  readonly tradePrice: number | null
}

/**
 * Returns every curve from all events, each figure computed separately. `usdOf` returns the USD price of a cash mint in an
 * event's block.
 */
export function plainCurves(
  story: readonly Listed[],
  usdOf: (mint: Pubkey, told: Listed) => number | null
): Map<string, CurveRow> {
  const curves = new Map<string, { mint: Pubkey; curve: Pubkey; first: Listed }>()
  const steps = new Map<string, Step[]>()
  for (const told of story) {
    const owner = ownerOf(told, curves)
    if (owner === null) continue
    const key = pubkeyMapKey(owner.mint)
    const known = curves.get(key) ?? { ...owner, first: told }
    if (!samePubkey(known.curve, owner.curve)) continue
    const taken = steps.get(key) ?? []
    const step = stepOf(told, owner.mint)
    const isTrade = told.event.kind === 'trade'
    if (told.event.kind !== 'launch' && taken.some(({ stage }) => stage > step.stage)) continue
    const quote = taken.find((each) => each.quote !== null)?.quote ?? null
    if (isTrade && quote !== null && !samePubkey(quote, step.quote!)) continue
    curves.set(key, known)
    steps.set(key, [...taken, step])
  }
  return new Map(
    [...curves].map(([key, { mint, curve, first }]) => [
      key,
      rowOf(mint, curve, first, steps.get(key)!, usdOf)
    ])
  )
}

const LAUNCHPADS = ['pumpfun', 'raydium-launchlab', 'meteora-dbc', 'moonshot']

function ownerOf(
  { event, mints }: Listed,
  curves: ReadonlyMap<string, { readonly curve: Pubkey }>
): { mint: Pubkey; curve: Pubkey } | null {
  if (event.kind === 'launch' || event.kind === 'curve') return { mint: event.baseMint, curve: event.curve }
  if (event.kind !== 'trade' || !LAUNCHPADS.includes(event.venue)) return null
  // SOL is the token of its dollar pairs, and never launched.
  const tokens = mints.filter((mint) => !samePubkey(mint, SOL))
  const known = tokens.filter((mint) => curves.has(pubkeyMapKey(mint)))
  const own = known.find((mint) => samePubkey(curves.get(pubkeyMapKey(mint))!.curve, event.pool))
  if (own !== undefined) return { mint: own, curve: event.pool }
  return known.length > 0 || tokens.length !== 1 ? null : { mint: tokens[0]!, curve: event.pool }
}

function stepOf(told: Listed, mint: Pubkey): Step {
  const { event, rows } = told
  const unknown = { decimals: null, quoteDecimals: null, reserves: null, progressPct: null, tradePrice: null }
  const nothing = { ...unknown, statedCurve: {} }
  if (event.kind === 'launch') {
    return { ...nothing, told, stage: 0, quote: event.quoteMint, decimals: event.decimals }
  }
  if (event.kind === 'curve') {
    const stage = ['create', 'complete', 'migrate'].indexOf(event.event)
    const isNew = event.event === 'create'
    const reserves = event.reserves === null ? null : { ...(isNew && { realQuote: 0n }), ...event.reserves }
    const { quoteMint: quote, progressPct, targetQuote } = event
    const statedCurve = targetQuote === undefined ? {} : { targetQuote }
    return { ...nothing, told, stage, quote, reserves, progressPct, statedCurve }
  }
  if (event.kind !== 'trade') throw new Error('no event of a curve')
  const isBuy = samePubkey(event.outMint, mint)
  const stated = event.reserves ?? {}
  const reserves = isBuy
    ? {
        realBase: stated.out,
        realQuote: stated.in,
        virtualBase: stated.virtualOut,
        virtualQuote: stated.virtualIn
      }
    : {
        realBase: stated.in,
        realQuote: stated.out,
        virtualBase: stated.virtualIn,
        virtualQuote: stated.virtualOut
      }
  return {
    ...nothing,
    told,
    stage: 0,
    quote: isBuy ? event.inMint : event.outMint,
    decimals: isBuy ? event.outDecimals : event.inDecimals,
    quoteDecimals: isBuy ? event.inDecimals : event.outDecimals,
    reserves: Object.fromEntries(Object.entries(reserves).filter(([, amount]) => amount !== undefined)),
    statedCurve: event.statedCurve ?? {},
    tradePrice: rows[0]!.priceForming ? rows[0]!.price : null
  }
}

function rowOf(
  mint: Pubkey,
  curve: Pubkey,
  first: Listed,
  steps: readonly Step[],
  usdOf: (mint: Pubkey, told: Listed) => number | null
): CurveRow {
  const last = steps.at(-1)!.told
  const quote = firstOf(steps.map((step) => step.quote))
  const stated = steps.findLast((step) => step.reserves !== null)
  const birth = steps.find(
    ({ told: { event } }) => event.kind === 'launch' || ('event' in event && event.event === 'create')
  )
  const migration = steps.find(({ stage }) => stage === 2)
  const prices = steps
    .map((_, i) => priceAt(mint, steps.slice(0, i + 1), usdOf))
    .filter((price) => price !== null)
  const at = ({ block }: Listed) => ({ slot: block.slot, blockTime: block.blockTime })
  return {
    mint,
    platform: first.event.venue,
    curve,
    quote,
    decimals: firstOf(steps.map((step) => step.decimals)),
    quoteDecimals: quoteDecimalsOf(steps),
    status: STAGES[Math.max(...steps.map(({ stage }) => stage))]!,
    progressPct: progressOf(steps, first.event.venue),
    forSale: forSaleAt(steps, first.event.venue),
    reserves: stated?.reserves ?? {},
    targetQuote: targetOf(steps, first.event.venue),
    price: prices.at(-1)?.price ?? null,
    cashUsd: prices.at(-1)?.cashUsd ?? null,
    creator: firstOf(steps.map(({ told: { event } }) => (event.kind === 'launch' ? event.creator : null))),
    created: birth === undefined ? null : at(birth.told),
    graduated:
      migration === undefined
        ? null
        : {
            ...at(migration.told),
            signature: migration.told.signature,
            pool: migration.told.event.kind === 'curve' ? migration.told.event.destination : null
          },
    cursor: last.cursor,
    ...at(last)
  }
}

/** Returns the tokens for sale as the first step that states them says. */
function forSaleAt(steps: readonly Step[], platform: VenueId): bigint | null {
  const isSoldOut = platform === 'pumpfun' || platform === 'raydium-launchlab'
  return firstOf(
    steps.map(({ told: { event }, reserves, statedCurve }) => {
      const isCreation = event.kind === 'curve' && event.event === 'create'
      return statedCurve.forSale ?? (isSoldOut && isCreation ? (reserves?.realBase ?? null) : null)
    })
  )
}

function courseAt(steps: readonly Step[], platform: VenueId) {
  const { reserves } = steps.at(-1)!
  if (reserves === null) return null
  return curveCourse(reserves, forSaleOf(platform, forSaleAt(steps, platform), reserves))
}

function progressOf(steps: readonly Step[], platform: VenueId): number | null {
  const last = steps.findLastIndex(({ reserves, progressPct }) => reserves !== null || progressPct !== null)
  if (last < 0) return null
  const { progressPct, reserves, statedCurve } = steps[last]!
  if (progressPct !== null) return progressPct
  const sold = courseAt(steps.slice(0, last + 1), platform)?.progressPct
  if (sold !== undefined) return sold
  const { targetQuote } = statedCurve
  const raised = reserves?.realQuote
  return raised === undefined || !targetQuote ? null : Math.min(100, 100 * ratio(raised, targetQuote))
}

function targetOf(steps: readonly Step[], platform: VenueId): bigint | null {
  let target: bigint | null = null
  let isStarted = false
  for (const [i, { reserves, stage, statedCurve }] of steps.entries()) {
    const until = steps.slice(0, i + 1)
    const held = stage === 1 && platform !== 'meteora-dbc' ? (reserves?.realQuote ?? null) : null
    const known: bigint | null = isStarted ? target : null
    target = statedCurve.targetQuote ?? known ?? courseAt(until, platform)?.targetQuote ?? target ?? held
    isStarted = forSaleAt(until, platform) !== null
  }
  return target
}

/** Returns the newest price change of some steps, or null if they leave the price unchanged. */
function priceAt(
  mint: Pubkey,
  steps: readonly Step[],
  usdOf: (mint: Pubkey, told: Listed) => number | null
): { price: number | null; cashUsd: number | null } | null {
  const { told, tradePrice } = steps.at(-1)!
  if (told.event.kind === 'launch') return null
  const decimals = firstOf(steps.map((step) => step.decimals))
  const quote = firstOf(steps.map((step) => step.quote))
  const quoteDecimals = quoteDecimalsOf(steps)
  const { virtualBase, virtualQuote } = steps.findLast(({ reserves }) => reserves !== null)?.reserves ?? {}
  if (quote === null) return null
  const cashUsd = usdOf(quote, told)
  const isStated = virtualBase !== undefined && virtualQuote !== undefined
  if (isStated && decimals !== null && quoteDecimals !== null) {
    const cash = { mint: quote, decimals: quoteDecimals, amount: virtualQuote }
    return { price: priceOf(cash, { mint, decimals, amount: virtualBase }), cashUsd }
  }
  return tradePrice === null ? null : { price: tradePrice, cashUsd }
}

function quoteDecimalsOf(steps: readonly Step[]): number | null {
  const quote = firstOf(steps.map((step) => step.quote))
  return quote !== null && samePubkey(quote, SOL) ? 9 : firstOf(steps.map((step) => step.quoteDecimals))
}

function firstOf<T>(values: readonly (T | null)[]): T | null {
  return values.find((value) => value !== null) ?? null
}
