import { WSOL } from '../market/cash.ts'
import { ALL_MINTS, type Sums } from './ledger-document.ts'
import { deltaOf, type LedgerEntry } from './ledger-entry.ts'

export const NO_SUMS: Sums = {
  entries: 0,
  inflow: 0n,
  outflow: 0n,
  inflowMicroUsd: 0n,
  outflowMicroUsd: 0n,
  counted: 0,
  unpriced: 0
}

/** The sums of one mint of a block's entries. */
export interface MintSums {
  readonly mint: string
  readonly decimals: number
  readonly sums: Sums
}

export const plus = (a: Sums, b: Sums): Sums => combined(a, b, 1n)
export const minus = (a: Sums, b: Sums): Sums => combined(a, b, -1n)

function combined(a: Sums, b: Sums, sign: 1n | -1n): Sums {
  return {
    entries: a.entries + Number(sign) * b.entries,
    inflow: a.inflow + sign * b.inflow,
    outflow: a.outflow + sign * b.outflow,
    inflowMicroUsd: a.inflowMicroUsd + sign * b.inflowMicroUsd,
    outflowMicroUsd: a.outflowMicroUsd + sign * b.outflowMicroUsd,
    counted: a.counted + Number(sign) * b.counted,
    unpriced: a.unpriced + Number(sign) * b.unpriced
  }
}

/** The changes of one mint by one transaction, or by the rewards before or after the transactions of a block. */
interface TransactionSums {
  readonly mint: string
  readonly decimals: number
  entries: number
  /** Net change in base units and in USD, of the changes that count. */
  delta: bigint
  usd: number
  unpriced: number
  /** The changes of another mint by the transaction, or null. */
  readonly next: TransactionSums | null
}

/**
 * Sums up an address's entries of a block: over all mints first, then of each mint. A transaction counts with its net change
 * of a mint, so that wrapping SOL is neither inflow nor outflow. A watched account of wrapped SOL holds its tokens as
 * lamports too, which count once.
 */
export function sumsOf(address: string, entries: readonly LedgerEntry[]): readonly [MintSums, ...MintSums[]] {
  const byMint = new Map<string, { mint: string; decimals: number; sums: MutableSums }>()
  const all: MutableSums = { ...NO_SUMS }
  for (const group of byTransaction(address, entries)) {
    const { mint, decimals } = group
    let ofMint = byMint.get(mint)
    if (ofMint === undefined) byMint.set(mint, (ofMint = { mint, decimals, sums: { ...NO_SUMS } }))
    ofMint.decimals = decimals
    addTo(ofMint.sums, group, true)
    addTo(all, group, mint === WSOL)
  }
  return [{ mint: ALL_MINTS, decimals: 0, sums: all }, ...byMint.values()]
}

type MutableSums = { -readonly [Field in keyof Sums]: Sums[Field] }

/** Adds the changes of a transaction; with `hasAmounts` false only counts and USD. */
function addTo(
  sums: MutableSums,
  { entries, delta, usd, unpriced }: TransactionSums,
  hasAmounts: boolean
): void {
  const microUsd = BigInt(Math.round(Math.abs(usd) * 1e6))
  sums.entries += entries
  sums.counted += entries
  // Changes that cancel each other need no price.
  if (delta !== 0n) sums.unpriced += unpriced
  if (delta > 0n) {
    if (hasAmounts) sums.inflow += delta
    sums.inflowMicroUsd += microUsd
  } else {
    if (hasAmounts) sums.outflow -= delta
    sums.outflowMicroUsd += microUsd
  }
}

/** Sums up the entries of each transaction and mint, in the order of their first entries. */
function byTransaction(address: string, entries: readonly LedgerEntry[]): readonly TransactionSums[] {
  const groups: TransactionSums[] = []
  /** The last group of each transaction: mostly the entries of one follow each other. */
  const transactions = new Map<string | number, TransactionSums>()
  let newestKey: string | number | null = null
  let newest: TransactionSums | null = null
  for (const entry of entries) {
    const { mint, decimals } = entry
    const key = entry.signature ?? entry.txIndex
    const last: TransactionSums | null = newestKey === key ? newest : (transactions.get(key) ?? null)
    let group: TransactionSums | null = last
    while (group !== null && group.mint !== mint) group = group.next
    if (group === null) {
      group = { mint, decimals, entries: 0, delta: 0n, usd: 0, unpriced: 0, next: last }
      groups.push(group)
      transactions.set(key, group)
      newestKey = key
      newest = group
    }
    group.entries++
    if (mint === WSOL && !entry.isNative && entry.account === address) continue
    group.delta += deltaOf(entry)
    // All changes of a mint in a block have one price.
    if (entry.valueUsd === null) group.unpriced++
    else group.usd += entry.valueUsd
  }
  return groups
}
