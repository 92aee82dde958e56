import { decodeTransactions } from '../../src/chain/decode-block.ts'
import type { ChainEvent, Trade } from '../../src/chain/events.ts'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { placeBlock, readRpcBlock } from '../../src/chain/rpc/block.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { USDC, USDT, WSOL } from '../../src/market/cash.ts'
import { PEGGED } from '../market/world.ts'

/** Cash mints; of two in one trade the earlier one is the token. */
const CASH = [WSOL, USDC, USDT, pubkeyToBase58(PEGGED)]

interface Sale {
  readonly time: number
  readonly trader: string
  readonly mints: readonly string[]
  /** Null when the cash has no known price. */
  readonly microUsd: number | null
  readonly lamports: number
}

export interface ExpectedWindow {
  readonly trades: number
  readonly volume_usd: number | null
  /** Absent if all trades have a value. */
  readonly unpriced_trades: number | undefined
  readonly volume_sol: number
  readonly traders: number
}

/**
 * The market's activity, from the decoder's events alone, in plain lists that are searched for every question. Shares no
 * code with the fold, the store or the windows.
 */
export class MarketOracle {
  readonly #sales: Sale[] = []
  readonly #launches: { readonly time: number; readonly mint: string }[] = []
  readonly #tokens = new Set<string>()
  readonly #solTrades = new Map<number, { readonly price: number; readonly sol: number }[]>()
  readonly #solPrices = new Map<number, number | null>()
  #firstTime: number | null = null
  headTime = 0

  add(block: DecodedBlock): void {
    this.headTime = block.blockTime
    const events = block.entries.map(({ event }) => event)
    const solUsd = this.#solUsd(minuteOf(block.blockTime), events)
    for (const event of events) {
      this.#firstTime ??= block.blockTime
      const mints = tokensOf(event)
      for (const mint of mints) this.#tokens.add(mint)
      if (event.kind === 'trade') this.#sales.push(saleOf(event, mints, block.blockTime, solUsd))
      if (event.kind === 'launch') this.#launch(pubkeyToBase58(event.baseMint), block.blockTime)
    }
  }

  get solUsd(): number | null {
    return this.#solPrices.get(minuteOf(this.headTime)) ?? null
  }

  get tokens(): number {
    return this.#tokens.size
  }

  /** Returns the mints that traded in the window, with their sums. */
  mints(seconds: number): Map<string, ExpectedWindow> {
    const within = this.#within(seconds, this.headTime)
    const mints = new Set(within.flatMap((sale) => sale.mints))
    return new Map(
      [...mints].map((mint) => [mint, sumOf(within.filter((sale) => sale.mints.includes(mint)))])
    )
  }

  market(seconds: number, end = this.headTime): ExpectedWindow & { readonly launches: number } {
    const { from, to } = spanOf(seconds, end)
    const launches = this.#launches.filter(({ time }) => from <= time && time < to).length
    return { ...sumOf(this.#within(seconds, end)), launches }
  }

  /** Returns whether indexed blocks reach back to the preceding window of equal length. */
  reachesBefore(seconds: number): boolean {
    const { from } = spanOf(seconds, this.headTime - seconds)
    return this.#firstTime !== null && minuteOf(this.#firstTime) <= from
  }

  #within(seconds: number, end: number): Sale[] {
    const { from, to } = spanOf(seconds, end)
    return this.#sales.filter(({ time }) => from <= time && time < to)
  }

  #launch(mint: string, time: number): void {
    if (this.#launches.every((launch) => launch.mint !== mint)) this.#launches.push({ time, mint })
  }

  /** Returns SOL's price in USD minute by minute. */
  #solUsd(minute: number, events: readonly ChainEvent[]): number | null {
    const own = events.flatMap((event) => (event.kind === 'trade' ? solTradeOf(event) : []))
    let price = this.#solPrices.get(minute)
    if (price === undefined) {
      const source = Math.max(...this.#solTrades.keys())
      price = minute - source <= 3_600 ? medianOf(this.#solTrades.get(source)!) : null
    }
    if (price === null && own.length > 0) price = medianOf(own)
    this.#solPrices.set(minute, price)
    if (own.length > 0) this.#solTrades.set(minute, [...(this.#solTrades.get(minute) ?? []), ...own])
    return price
  }
}

const minuteOf = (time: number): number => Math.floor(time / 60) * 60

function spanOf(seconds: number, end: number) {
  const to = minuteOf(end) + 60
  return { from: to - seconds, to }
}

function sumOf(sales: readonly Sale[]): ExpectedWindow {
  const priced = sales.flatMap(({ microUsd }) => microUsd ?? [])
  return {
    trades: sales.length,
    volume_usd: sales.length > 0 && priced.length === 0 ? null : sum(priced) / 1e6,
    unpriced_trades: sales.length === priced.length ? undefined : sales.length - priced.length,
    volume_sol: sum(sales.map(({ lamports }) => lamports)) / 1e9,
    traders: new Set(sales.map(({ trader }) => trader)).size
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

function saleOf(trade: Trade, mints: readonly string[], time: number, solUsd: number | null): Sale {
  const base = { time, mints, trader: pubkeyToBase58(trade.user) }
  if (mints.length === 2) return { ...base, microUsd: null, lamports: 0 }
  const paysCash = pubkeyToBase58(trade.outMint) === mints[0]
  const cash = pubkeyToBase58(paysCash ? trade.inMint : trade.outMint)
  const raw = Number(paysCash ? trade.inAmount : trade.outAmount)
  const decimals = paysCash ? trade.inDecimals : trade.outDecimals
  const usd = cash === WSOL ? solUsd : 1
  return {
    ...base,
    microUsd: usd === null ? null : Math.round((raw / 10 ** decimals) * usd * 1e6),
    lamports: cash === WSOL ? raw : 0
  }
}

/** Returns the mints that an event is listed under: with one cash mint the other mint, with two the first, else both. */
function tokensOf(event: ChainEvent): string[] {
  const named: (Pubkey | null)[] =
    event.kind === 'trade' ? [event.inMint, event.outMint] : [event.baseMint, event.quoteMint]
  const mints = named.flatMap((mint) => (mint === null ? [] : pubkeyToBase58(mint)))
  const tokens = mints.filter((mint) => !CASH.includes(mint))
  if (tokens.length > 0 || mints.length < 2) return tokens
  return [mints.toSorted((a, b) => CASH.indexOf(a) - CASH.indexOf(b))[0]!]
}

function solTradeOf(trade: Trade): { price: number; sol: number }[] {
  const legs = [
    { mint: pubkeyToBase58(trade.inMint), amount: Number(trade.inAmount) / 10 ** trade.inDecimals },
    { mint: pubkeyToBase58(trade.outMint), amount: Number(trade.outAmount) / 10 ** trade.outDecimals }
  ]
  const sol = legs.find(({ mint }) => mint === WSOL)
  const dollars = legs.find(({ mint }) => mint === USDC || mint === USDT)
  if (sol === undefined || dollars === undefined || dollars.amount < 1 || sol.amount === 0) return []
  return [{ price: dollars.amount / sol.amount, sol: sol.amount }]
}

function medianOf(trades: readonly { readonly price: number; readonly sol: number }[]): number {
  const sorted = trades.toSorted((a, b) => a.price - b.price)
  const half = sum(sorted.map(({ sol }) => sol)) / 2
  let below = 0
  return sorted.find(({ sol }) => (below += sol) >= half)!.price
}

/** Decodes a recorded `{slot, block}` as ingest does. */
export function decodedBlock(record: unknown): DecodedBlock {
  const outcome = readRpcBlock(record)
  const block = outcome.kind === 'block' ? placeBlock(outcome.block) : null
  if (block === null) throw new Error(`no block: ${outcome.kind}`)
  const { slot, blockTime, parentSlot, transactions } = block
  const { entries } = decodeTransactions(transactions)
  const about = {
    slot,
    blockTime,
    parentSlot,
    blockhash: null,
    receivedAtMs: blockTime * 1000,
    transactions: transactions.length
  }
  return { ...about, commitment: 'confirmed', entries }
}
