import type { TenantEvent } from '../../storage/cluster/coordination.ts'
import { ledgerEntryEvent, type LedgerEntryData } from './bodies/ledger-entry.ts'
import type { Clock } from '../ports.ts'
import type { LedgerRow } from './ledger-reader.ts'
import type { WatchedAddress } from './watched-address.ts'

/** A tenant that watches the address of some rows, and its facts about the address. */
export type Watcher = Pick<WatchedAddress, 'tenant' | 'label' | 'role' | 'captureFrom'>

/** Publishes changes of the ledger of watched addresses on the channel `revenue` of each tenant that watches them. */
export class LedgerFeed {
  readonly #publish: (event: TenantEvent) => void
  readonly #clock: Pick<Clock, 'now'>
  readonly #hasClient: (tenant: string) => boolean

  /** `hasClient` tells whether an event of a tenant may reach a client now. */
  constructor(
    publish: (event: TenantEvent) => void,
    clock: Pick<Clock, 'now'>,
    hasClient: (tenant: string) => boolean = () => true
  ) {
    this.#publish = publish
    this.#clock = clock
    this.#hasClient = hasClient
  }

  /** Tells whether a client may receive rows of these watchers now. Rows for nobody need not be rendered. */
  isHeard(watchers: readonly Watcher[]): boolean {
    return watchers.some(({ tenant }) => this.#hasClient(tenant))
  }

  /**
   * Publishes rows of one address, in their order, to those of its watchers whose ledger has begun by the row's slot.
   * `symbolOf` returns the symbol of a mint; null if it is unknown.
   */
  entries(
    watchers: readonly Watcher[],
    rows: readonly LedgerRow[],
    event: LedgerEntryData['event'],
    symbolOf: (mint: string) => string | null
  ): void {
    const atMs = this.#clock.now()
    for (const row of rows) {
      const symbol = symbolOf(row.mint)
      for (const { tenant, label, role, captureFrom } of watchers) {
        if (captureFrom === null || row.slot < captureFrom.slot) continue
        const data = ledgerEntryEvent(event, row, { label, role, symbol }, atMs)
        this.#publish({ tenant, channel: 'revenue', data })
      }
    }
  }
}
