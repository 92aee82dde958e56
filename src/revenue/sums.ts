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

/**
 * Sums up an address's entries of a block: over all mints first, then of each mint. A transaction counts with its net change
 * of a mint, so that wrapping SOL is neither inflow nor outflow. A watched account of wrapped SOL holds its tokens as
 * lamports too, which count once.
 */
export function sumsOf(address: string, entries: readonly LedgerEntry[]): readonly [MintSums, ...MintSums[]] {
  const byMint = new Map<string, MintSums>()
  let all = NO_SUMS
  for (const changes of byTransaction(entries)) {
    const [{ mint, decimals }] = changes
    const flowing = changes.filter(
      ({ account, isNative }) => isNative || mint !== WSOL || account !== address
    )
    const own = { ...flowOf(flowing), entries: changes.length, counted: changes.length }
    const before = byMint.get(mint)?.sums ?? NO_SUMS
    byMint.set(mint, { mint, decimals, sums: plus(before, own) })
    all = plus(all, mint === WSOL ? own : { ...own, inflow: 0n, outflow: 0n })
  }
  return [{ mint: ALL_MINTS, decimals: 0, sums: all }, ...byMint.values()]
}

/**
 * Groups entries of one transaction and mint. Rewards before the transactions of a block form one group, rewards
 * after them another.
 */
function byTransaction(entries: readonly LedgerEntry[]): Iterable<[LedgerEntry, ...LedgerEntry[]]> {
  const groups = new Map<string, [LedgerEntry, ...LedgerEntry[]]>()
  for (const entry of entries) {
    const key = `${entry.signature ?? entry.txIndex}${entry.mint}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups.values()
}

function flowOf(changes: readonly LedgerEntry[]): Omit<Sums, 'entries' | 'counted'> {
  const delta = changes.reduce((sum, change) => sum + deltaOf(change), 0n)
  // All changes of a mint in a block have one price.
  const usd = changes.reduce((sum, { valueUsd }) => sum + (valueUsd ?? 0), 0)
  const microUsd = BigInt(Math.round(Math.abs(usd) * 1e6))
  const isInflow = delta > 0n
  return {
    inflow: isInflow ? delta : 0n,
    outflow: isInflow ? 0n : -delta,
    inflowMicroUsd: isInflow ? microUsd : 0n,
    outflowMicroUsd: isInflow ? 0n : microUsd,
    // Changes that cancel each other need no price.
    unpriced: delta === 0n ? 0 : changes.filter(({ valueUsd }) => valueUsd === null).length
  }
}
