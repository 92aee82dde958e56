import type { CallScript } from '../script.ts'
import { reads } from './account-uses.ts'

/** Anchor's tag of an event that a program states by a call to itself. */
const TAG = Uint8Array.fromHex('e445a52e51cb9a1d')

/** States an event by a call of the program to itself, for which only its event authority signs. */
export function stateEvent(
  call: CallScript,
  program: Uint8Array,
  eventAuthority: Uint8Array,
  event: Uint8Array
): void {
  call.call(program, [reads(eventAuthority)], Uint8Array.of(...TAG, ...event))
}
