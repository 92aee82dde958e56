import type { InstructionLayout, Layout, LayoutTable } from './layout.ts'
import type { VenueId } from './venue-id.ts'

/** The ways in which a venue states its events, in addition to token movements. */
export type EventTransport = 'self-call' | 'log' | 'self-call-and-log' | 'none'

/** The facts of a venue: its programs, and its instructions and events as data. */
export interface VenueTables {
  readonly id: VenueId
  /** Program addresses, base58. */
  readonly programs: readonly string[]
  readonly transport: EventTransport
  /** Every known instruction; any other is counted as unknown. */
  readonly instructions: LayoutTable<InstructionLayout>
  /** Every known event; any other is counted as unknown. */
  readonly events: LayoutTable<Layout<unknown>>
  /** Returns the offset of the event in a self-call; -1 if the instruction is not a self-call. */
  statedEventOffset(data: Uint8Array): number
}
