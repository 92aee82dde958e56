import type { Emitter } from './emitter.ts'
import type { Invocation } from './invocation.ts'
import type { InstructionLayout, Layout, LayoutTable } from './layout.ts'
import type { VenueId } from './venue-id.ts'

/** How a venue tells what it did, besides moving tokens. */
export type EventTransport = 'self-call' | 'log' | 'self-call-and-log' | 'none'

/** A venue: its layouts as data, and how a call of it becomes events. */
export interface Venue {
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
  /** Emits what one call did. Reads only the call; never throws on any bytes. */
  decode(call: Invocation, emit: Emitter): void
}

/** Anchor's `emit_cpi!`: the little-endian u64 0x1d9acb512ea545e4, then the event. */
export function anchorSelfCall(data: Uint8Array): number {
  return data.length >= 16 &&
    data[0] === 0xe4 &&
    data[1] === 0x45 &&
    data[2] === 0xa5 &&
    data[3] === 0x2e &&
    data[4] === 0x51 &&
    data[5] === 0xcb &&
    data[6] === 0x9a &&
    data[7] === 0x1d
    ? 8
    : -1
}

/** A venue that states nothing through calls to itself. */
export function noSelfCall(): number {
  return -1
}
