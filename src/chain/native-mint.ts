import { pubkeyFromBase58 } from './pubkey.ts'

/** Wrapped SOL; the native SOL legs of bonding curves are reported under this mint too. */
export const NATIVE_MINT = pubkeyFromBase58('So11111111111111111111111111111111111111112')
export const NATIVE_DECIMALS = 9
