import type { CallSpec } from '../build-transaction.ts'

/** An event that an Anchor program states through a call to itself. */
export function selfCall(program: string, event: Uint8Array): CallSpec {
  const tag = Uint8Array.fromHex('e445a52e51cb9a1d')
  return { program, accounts: ['events'], data: Uint8Array.from([...tag, ...event]) }
}
