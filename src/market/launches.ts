import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { ChainEvent, CurveChange, Launch } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { CashList } from './cash.ts'
import { launchableMints } from './listing.ts'
import type { LaunchRow, LaunchStatus, RowOrigin } from './rows.ts'

/**
 * Folds the lifecycle of launches.
 *
 * L1. created → trading: the first trade of the mint after its launch, on any venue, on either side.
 * L2. created or trading → graduated: the curve's `migrate`. A `complete` only makes the curve graduating. Moonshot
 *     has no `complete` and goes from bonding to graduated by its `migrate` alone.
 * L3. A status never goes back. A mint has one launch, the first.
 */
export class LaunchFold {
  readonly #stored: (mint: Pubkey) => LaunchRow | null
  readonly #rows = new Map<string, { row: LaunchRow | null; isChanged: boolean }>()

  constructor(stored: (mint: Pubkey) => LaunchRow | null) {
    this.#stored = stored
  }

  /** Adds a launch; returns whether it is the mint's first. */
  launch(origin: RowOrigin, launch: Launch, ingestedAtMs: number): boolean {
    const entry = this.#entry(launch.baseMint)
    if (entry.row !== null) return false
    const { baseMint, quoteMint, creator, name, symbol, uri, decimals, supply, curve } = launch
    const facts = { quoteMint, creator, name, symbol, uri, decimals, supply, curve }
    entry.row = { ...origin, ingestedAtMs, mint: baseMint, ...facts, status: 'created' }
    entry.isChanged = true
    return true
  }

  trade(mint: Pubkey): void {
    this.#raise(mint, 'trading')
  }

  curve(change: CurveChange): void {
    if (change.event === 'migrate') this.#raise(change.baseMint, 'graduated')
  }

  /** Returns new launches and those whose status changed, in cursor order. */
  changed(): LaunchRow[] {
    const rows: LaunchRow[] = []
    for (const { row, isChanged } of this.#rows.values()) if (isChanged && row !== null) rows.push(row)
    return rows.sort((a, b) => a.cursor - b.cursor)
  }

  #raise(mint: Pubkey, status: LaunchStatus): void {
    const entry = this.#entry(mint)
    if (entry.row === null || RANK[entry.row.status] >= RANK[status]) return
    entry.row = { ...entry.row, status }
    entry.isChanged = true
  }

  #entry(mint: Pubkey): { row: LaunchRow | null; isChanged: boolean } {
    const key = pubkeyMapKey(mint)
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const entry = { row: this.#stored(mint), isChanged: false }
    this.#rows.set(key, entry)
    return entry
  }
}

/** Mints whose launch an event can create or change. */
export function launchMints(event: ChainEvent, cash: CashList): Pubkey[] {
  if (event.kind === 'trade') return launchableMints(event, cash)
  return event.kind === 'launch' || event.kind === 'curve' ? [event.baseMint] : []
}

const RANK: Readonly<Record<LaunchStatus, number>> = { created: 0, trading: 1, graduated: 2 }
