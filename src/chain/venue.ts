import type { Emitter } from './emitter.ts'
import type { Invocation } from './invocation.ts'
import type { VenueTables } from './venue-tables.ts'

/** A venue: its layouts as data, and the decoding of its calls into events. */
export interface Venue extends VenueTables {
  /** Emits the events of one call. Reads only the call; throws on no bytes. */
  decode(call: Invocation, emit: Emitter): void
}

/**
 * Returns the offset of the event in Anchor's `emit_cpi!` data: the little-endian u64 0x1d9acb512ea545e4, then the
 * event.
 */
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

/** Returns -1: the venue has no self-calls. */
export function noSelfCall(): number {
  return -1
}
