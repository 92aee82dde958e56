import type { Pubkey } from '../../../chain/pubkey.ts'
import { programAddress } from '../program-address.ts'
import type { CallScript } from '../script.ts'
import { stateEvent } from './self-event.ts'

/** A program that states its events as Anchor's `emit_cpi!` does, by calls to itself. */
export class SelfCall {
  readonly program: Pubkey
  readonly authority: Pubkey

  constructor(program: Pubkey) {
    this.program = program
    this.authority = programAddress(['__event_authority'], program)
  }

  state(call: CallScript, event: Uint8Array): void {
    stateEvent(call, this.program, this.authority, event)
  }
}
