import type { CurveReserves, TradeReserves } from '../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { ratio } from '../../src/market/amount.ts'
import { address, stamp, type Json } from './oracle-bodies.ts'
import { CASH, human, isCash, signatureOf, type Listed, type StoryEvent } from './oracle-story.ts'

const LAUNCHPADS = ['pumpfun', 'raydium-launchlab', 'meteora-dbc', 'moonshot']
const SOLD_OUT = ['pumpfun', 'raydium-launchlab']
const ORDER = ['bonding', 'graduating', 'graduated']

interface Curve {
  readonly platform: string
  readonly curve: string
  status: string
  quote: string | null
  decimals: number | null
  quoteDecimals: number | null
  reserves: CurveReserves
  progress: number | null
  forSale: bigint | null
  /** Whether the target follows from a stated start, and stays. */
  isTargetKnown: boolean
  target: bigint | null
  price: number | null
  solUsd: number | null
  creator: string | null
  created: StoryEvent | null
  graduated: { readonly told: StoryEvent; readonly pool: string | null } | null
  newest: StoryEvent
}

/** The answer about a curve, and the tokens that it has sold, in base units; null if unknown. */
export interface CurveAnswer {
  readonly json: Json
  readonly sold: bigint | null
}

/** Returns the bonding curve of each mint at the end of a story, folded event by event. */
export function curvesOf(story: readonly StoryEvent[], rows: readonly Listed[]): Map<string, CurveAnswer> {
  const curves = new Map<string, Curve>()
  const first = new Map(rows.filter(({ isFirst }) => isFirst).map((row) => [row.cursor, row]))
  for (const told of story) {
    const { event } = told
    if (event.kind === 'launch' || event.kind === 'curve') {
      const mint = pubkeyToBase58(event.baseMint)
      const curve = curves.get(mint) ?? newCurve(told, pubkeyToBase58(event.curve))
      if (curve.curve !== pubkeyToBase58(event.curve)) continue
      if (event.kind === 'curve') {
        const status = { create: 'bonding', complete: 'graduating', migrate: 'graduated' }[event.event]
        if (ORDER.indexOf(status) < ORDER.indexOf(curve.status)) continue
        curve.status = status
        nameQuote(curve, address(event.quoteMint))
        const stated =
          event.event === 'create' && event.reserves !== null
            ? { realQuote: 0n, ...event.reserves }
            : event.reserves
        if (event.event === 'create' && SOLD_OUT.includes(curve.platform))
          curve.forSale ??= stated?.realBase ?? null
        if (stated !== null) takeReserves(curve, stated, event.targetQuote)
        else curve.target = event.targetQuote ?? curve.target
        takeSpot(curve, told)
        curve.progress = event.progressPct ?? curve.progress
        if (event.event === 'complete' && curve.platform !== 'meteora-dbc')
          curve.target ??= stated?.realQuote ?? null
        if (event.event === 'create') curve.created ??= told
        if (event.event === 'migrate') curve.graduated ??= { told, pool: address(event.destination) }
      } else {
        nameQuote(curve, pubkeyToBase58(event.quoteMint))
        curve.decimals ??= event.decimals
        curve.creator ??= pubkeyToBase58(event.creator)
        curve.created ??= told
      }
      curve.newest = told
      curves.set(mint, curve)
    }
    if (event.kind === 'trade' && LAUNCHPADS.includes(event.venue)) takeTrade(curves, first.get(told.cursor)!)
  }
  return new Map(
    [...curves].map(([mint, curve]) => [mint, { json: curveJson(mint, curve), sold: soldOf(curve) }])
  )
}

function newCurve(told: StoryEvent, curve: string): Curve {
  const start = { progress: null, forSale: null, isTargetKnown: false, target: null }
  const none = { quote: null, decimals: null, quoteDecimals: null, ...start, price: null }
  const more = { solUsd: null, creator: null, created: null, graduated: null, newest: told }
  return { platform: told.event.venue, curve, status: 'bonding', reserves: {}, ...none, ...more }
}

function nameQuote(curve: Curve, quote: string | null): void {
  curve.quote ??= quote
  if (curve.quote === CASH[0]) curve.quoteDecimals ??= 9
}

function takeTrade(curves: Map<string, Curve>, row: Listed): void {
  const tokens = [row.trade.inMint, row.trade.outMint].map(pubkeyToBase58).filter((mint) => !isCash(mint))
  const isUnknown = tokens.every((mint) => !curves.has(mint))
  const mint =
    isUnknown && row.side !== null ? row.mint : tokens.find((each) => curves.get(each)?.curve === row.pool)
  if (mint === undefined) return
  const curve = curves.get(mint) ?? newCurve(row, row.pool)
  if (curve.status !== 'bonding') return
  const isBuy = pubkeyToBase58(row.trade.outMint) === mint
  const { inMint, outMint, inDecimals, outDecimals, reserves } = row.trade
  curve.quote ??= pubkeyToBase58(isBuy ? inMint : outMint)
  curve.decimals ??= isBuy ? outDecimals : inDecimals
  curve.quoteDecimals ??= isBuy ? inDecimals : outDecimals
  if (row.forming) {
    curve.price = row.price
    curve.solUsd = row.cashUsd
  }
  const { statedCurve = {} } = row.trade
  curve.forSale ??= statedCurve.forSale ?? null
  takeReserves(curve, reserves === null ? {} : curveReserves(reserves, isBuy), statedCurve.targetQuote)
  takeSpot(curve, row, statedCurve.sqrtPrice)
  curve.newest = row
  curves.set(mint, curve)
}

function curveReserves(stated: TradeReserves, isBuy: boolean): CurveReserves {
  const pairs = isBuy
    ? {
        realQuote: stated.in,
        realBase: stated.out,
        virtualQuote: stated.virtualIn,
        virtualBase: stated.virtualOut
      }
    : {
        realQuote: stated.out,
        realBase: stated.in,
        virtualQuote: stated.virtualOut,
        virtualBase: stated.virtualIn
      }
  return Object.fromEntries(Object.entries(pairs).filter(([, amount]) => amount !== undefined))
}

function takeReserves(curve: Curve, reserves: CurveReserves, stated: bigint | undefined): void {
  curve.reserves = reserves
  curve.progress = null
  const { virtualBase, virtualQuote, realBase, realQuote } = reserves
  const forSale = forSaleOf(curve)
  if (stated !== undefined) curve.target = stated
  if (forSale === null || realBase === undefined) {
    if (stated && realQuote !== undefined) curve.progress = Math.min(100, 100 * ratio(realQuote, stated))
    return
  }
  curve.progress = 100 * ratio(forSale > realBase ? forSale - realBase : 0n, forSale)
  if (
    stated === undefined &&
    !curve.isTargetKnown &&
    virtualBase !== undefined &&
    virtualQuote !== undefined
  ) {
    const [start, unsold] = [virtualQuote - realQuote!, virtualBase - realBase]
    // Rounded up.
    curve.target = -((-start * forSale) / unsold) + ((start * forSale) % unsold === 0n ? 0n : 1n)
  }
  curve.isTargetKnown = curve.forSale !== null && curve.target !== null
}

/** Returns the tokens for sale at the start: as stated, else those of every Pump.fun curve. */
function forSaleOf({ platform, forSale, reserves: { virtualBase, realBase } }: Curve): bigint | null {
  if (forSale !== null || platform !== 'pumpfun') return forSale
  if (virtualBase === undefined || realBase === undefined) return null
  return virtualBase - realBase === 279_900_000n * 10n ** 6n ? 793_100_000n * 10n ** 6n : null
}

function soldOf(curve: Curve): bigint | null {
  const forSale = forSaleOf(curve)
  const { realBase } = curve.reserves
  if (forSale === null || realBase === undefined) return null
  return forSale > realBase ? forSale - realBase : 0n
}

function takeSpot(curve: Curve, { solUsd }: StoryEvent, root?: bigint): void {
  const { quote, decimals, quoteDecimals, reserves } = curve
  if (quote === null || decimals === null || quoteDecimals === null) return
  const isVirtual = reserves.virtualBase !== undefined && reserves.virtualQuote !== undefined
  if (!isVirtual && root === undefined) return
  const [top, bottom] = isVirtual ? [reserves.virtualQuote, reserves.virtualBase] : [root! ** 2n, 2n ** 128n]
  curve.price =
    bottom === 0n ? null : ratio(top * 10n ** BigInt(decimals), bottom * 10n ** BigInt(quoteDecimals))
  curve.solUsd = quote === CASH[0] ? solUsd : isCash(quote) ? 1 : null
}

function curveJson(mint: string, curve: Curve): Json {
  const { reserves, decimals, quoteDecimals, target, graduated, created, newest } = curve
  const humanOf = (raw: bigint | undefined | null, unit: number | null): number | null =>
    raw === undefined || raw === null || unit === null ? null : human(raw, unit)
  const rawOf = (raw: bigint | undefined | null): string | null => raw?.toString() ?? null
  const held = reserves.realQuote
  const remaining =
    curve.status !== 'bonding'
      ? 0n
      : target === null || held === undefined
        ? null
        : target > held
          ? target - held
          : 0n
  return {
    mint,
    platform: curve.platform,
    curve: curve.curve,
    status: curve.status,
    progress_pct: curve.progress,
    price: curve.price,
    price_usd: curve.price === null || curve.solUsd === null ? null : curve.price * curve.solUsd,
    cash_mint: curve.quote,
    reserves: {
      virtual_cash: humanOf(reserves.virtualQuote, quoteDecimals),
      virtual_cash_raw: rawOf(reserves.virtualQuote),
      virtual_token: humanOf(reserves.virtualBase, decimals),
      virtual_token_raw: rawOf(reserves.virtualBase),
      real_cash: humanOf(reserves.realQuote, quoteDecimals),
      real_cash_raw: rawOf(reserves.realQuote),
      real_token: humanOf(reserves.realBase, decimals),
      real_token_raw: rawOf(reserves.realBase)
    },
    graduation: {
      target_cash: humanOf(target, quoteDecimals),
      target_cash_raw: rawOf(target),
      remaining_cash: humanOf(remaining, quoteDecimals),
      graduated_at: graduated === null ? null : stamp(graduated.told.block.blockTime),
      graduated_slot: graduated?.told.block.slot ?? null,
      graduated_signature: graduated === null ? null : signatureOf(graduated.told),
      pool: graduated?.pool ?? null
    },
    creator: curve.creator,
    created_at: created === null ? null : stamp(created.block.blockTime),
    // The node of the test has no account of it.
    state_from: 'event',
    state_slot: newest.block.slot,
    state_age_seconds: null,
    state_reason: curve.status === 'graduated' ? null : 'the account does not exist',
    slot: newest.block.slot,
    updated_at: stamp(newest.block.blockTime)
  }
}
