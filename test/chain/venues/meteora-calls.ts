import type { InstructionLayout } from '../../../src/chain/layout.ts'
import type { CallSpec } from '../build-transaction.ts'

/** An event that an Anchor program states through a call to itself. */
export function selfCall(program: string, event: Uint8Array): CallSpec {
  const tag = Uint8Array.fromHex('e445a52e51cb9a1d')
  return { program, accounts: ['events'], data: Uint8Array.from([...tag, ...event]) }
}

/** An instruction whose arguments are zeros, for where they do not matter. */
export function zeros(layout: InstructionLayout, bytes = 64): Uint8Array {
  return Uint8Array.from([...layout.discriminator, ...new Uint8Array(bytes)])
}
