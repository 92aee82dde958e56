import type { AccountUse } from '../script.ts'

/** How an instruction lists an account. */
export function reads(address: Uint8Array): AccountUse {
  return { address }
}

export function writes(address: Uint8Array): AccountUse {
  return { address, writable: true }
}

/** A signer that pays or is changed. */
export function signs(address: Uint8Array): AccountUse {
  return { address, signer: true, writable: true }
}
