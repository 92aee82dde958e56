import type { MissingReason, Note, VaultTransfer } from '../chain/emitter.ts'
import type { EventKind } from '../chain/events.ts'
import { VENUE_IDS, type VenueId } from '../chain/venue-id.ts'

/** Counts of decoded events of a venue and of notes, since the process started. */
export interface VenueReport {
  readonly events: Record<EventKind, number>
  readonly missing: Partial<Record<MissingReason, number>>
  /** Number of facts with two different readings. */
  disagreements: number
  /** Bodies longer than the newest known layout, by layout. */
  readonly drift: Record<string, number>
  /** Unknown discriminators, with their counts. */
  readonly unknownInstructions: Record<string, number>
  readonly unknownEvents: Record<string, number>
  /** Transactions that moved tokens of a pool past its program without a trade. */
  readonly vaultTransfers: Record<VaultTransfer, number>
}

/**
 * Maximum number of unknown discriminators counted apart: programs have fewer, but a hostile caller may invent them.
 */
const DISCRIMINATORS_MAX = 64

/** Counts events and notes of the decoder per venue, for operators and metrics. */
export class DecodingReport {
  readonly venues: Readonly<Record<VenueId, VenueReport>> = Object.fromEntries(
    VENUE_IDS.map((venue) => [venue, emptyReport()])
  ) as unknown as Record<VenueId, VenueReport>

  count(
    events: Iterable<{ readonly event: { readonly venue: VenueId; readonly kind: EventKind } }>,
    notes: Iterable<Note>
  ): void {
    for (const { event } of events) this.venues[event.venue].events[event.kind]++
    for (const note of notes) this.#note(note)
  }

  #note(note: Note): void {
    const report = this.venues[note.venue]
    switch (note.kind) {
      case 'missing':
        report.missing[note.reason] = (report.missing[note.reason] ?? 0) + 1
        break
      case 'disagreement':
        report.disagreements++
        break
      case 'drift':
        bump(report.drift, note.layout)
        break
      case 'unknown-instruction':
        bump(report.unknownInstructions, note.discriminator)
        break
      case 'unknown-event':
        bump(report.unknownEvents, note.discriminator)
        break
      case 'vault-transfer':
        report.vaultTransfers[note.transfer]++
        break
    }
  }

  /** Returns the counts as served at `/v1/admin/decoding`. */
  body() {
    return Object.fromEntries(
      VENUE_IDS.map((venue) => {
        const report = this.venues[venue]
        return [
          venue,
          {
            events: report.events,
            missing: report.missing,
            missing_total: Object.values(report.missing).reduce((sum, count) => sum + count, 0),
            disagreements: report.disagreements,
            drift: report.drift,
            unknown_instructions: report.unknownInstructions,
            unknown_events: report.unknownEvents,
            vault_transfers: report.vaultTransfers
          }
        ]
      })
    )
  }
}

function emptyReport(): VenueReport {
  return {
    events: { trade: 0, liquidity: 0, launch: 0, curve: 0, pool: 0 },
    missing: {},
    disagreements: 0,
    drift: {},
    unknownInstructions: {},
    unknownEvents: {},
    vaultTransfers: { donated: 0, seized: 0 }
  }
}

function bump(counts: Record<string, number>, name: string): void {
  const known = name in counts || Object.keys(counts).length < DISCRIMINATORS_MAX
  const key = known ? name : 'other'
  counts[key] = (counts[key] ?? 0) + 1
}
