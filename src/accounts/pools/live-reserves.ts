import { isRefused } from '../optional-key.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import type { PoolRow } from '../../market/registry-rows.ts'
import type { KnownPool } from './pool-directory.ts'
import { orientedSides } from './pool-state.ts'

/** The reserves of a pool, from its accounts or from its newest trade, whichever is newer. */
export interface PoolReserves {
  /** In base units; each null if unknown. */
  readonly base: bigint | null
  readonly quote: bigint | null
  readonly from: 'account' | 'trade' | null
  readonly slot: number | null
  /** When the accounts were read, by this service's clock; null for the reserves of a trade. */
  readonly readAtMs: number | null
  /** Why the reserves are not fresh from accounts; null if they are, or if a newer trade states them. */
  readonly reason: string | null
  readonly baseVault: Pubkey | null
  readonly quoteVault: Pubkey | null
}

/** Selects the newer reserves: those in a pool's accounts, or those in its newest trade. */
export function reservesOf(row: PoolRow, known: KnownPool | null, fault: string | null): PoolReserves {
  const { baseVault, quoteVault, reserves, lastTrade } = row
  const traded = reserves === null || lastTrade === null ? null : { ...reserves, slot: lastTrade.slot }
  const read = readSides(row, known)
  const vaults = {
    baseVault: baseVault ?? read.sides?.base.vault ?? null,
    quoteVault: quoteVault ?? read.sides?.quote.vault ?? null
  }
  if (traded !== null && (read.sides === null || known === null || known.slot < traded.slot)) {
    const { base, quote, slot } = traded
    // A trade newer than a fresh reading is the newest state of the pool.
    const reason = read.sides === null ? (fault ?? read.reason) : fault
    return { ...vaults, base, quote, from: 'trade', slot, readAtMs: null, reason }
  }
  if (read.sides === null || known === null) {
    const nothing = { base: null, quote: null, from: null, slot: null, readAtMs: null }
    return { ...vaults, ...nothing, reason: fault ?? read.reason }
  }
  const { base, quote } = read.sides
  return {
    ...vaults,
    base: base.reserve,
    quote: quote.reserve,
    from: 'account',
    slot: known.slot,
    readAtMs: known.readAtMs,
    reason: fault
  }
}

function readSides({ base, quote }: PoolRow, known: KnownPool | null) {
  if (known === null) return { sides: null, reason: 'its accounts have not been read' }
  const { state } = known.reading
  if (isRefused(state)) return { sides: null, reason: `the account ${state.reason}` }
  const sides = orientedSides(state, base, quote)
  if (sides === null) return { sides: null, reason: 'the account is of other mints' }
  const isOpen = sides.base.reserve !== null || sides.quote.reserve !== null
  return isOpen ? { sides, reason: null } : { sides: null, reason: 'its funds have gone to a pool' }
}

/** Returns a pool with other reserves; null if one of them is unknown. */
export function withReserves(row: PoolRow, { base, quote }: Pick<PoolReserves, 'base' | 'quote'>): PoolRow {
  return { ...row, reserves: base === null || quote === null ? null : { base, quote } }
}
