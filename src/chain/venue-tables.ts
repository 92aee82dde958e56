import type { InstructionLayout, Layout, LayoutTable } from './layout.ts'
import type { VenueId } from './venue-id.ts'

/** How a venue tells what it did, besides moving tokens. */
export type EventTransport = 'self-call' | 'log' | 'self-call-and-log' | 'none'

/** The facts of a venue: its programs, and its instructions and events as data. */
export interface VenueTables {
  readonly id: VenueId
  /** Program addresses, base58. */
  readonly programs: readonly string[]
  readonly transport: EventTransport
  /** Every known instruction; one that is not here is counted as unknown. */
  readonly instructions: LayoutTable<InstructionLayout>
  /** Every known event; one that is not here is counted as unknown. */
  readonly events: LayoutTable<Layout<unknown>>
  /**
   * Whether an instruction to the program itself states an event, and from which byte it is read;
   * -1 when it is an instruction like any other.
   */
  statedEventOffset(data: Uint8Array): number
}
