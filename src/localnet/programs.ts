import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../chain/token-movement.ts'

/** Programs of the runtime and of tokens, and the sysvars that they read, as raw keys. */
export const SYSTEM = pubkeyFromBase58(SYSTEM_PROGRAM)
export const TOKEN = pubkeyFromBase58(TOKEN_PROGRAM)
export const TOKEN_2022 = pubkeyFromBase58(TOKEN_2022_PROGRAM)
export { ASSOCIATED_TOKEN } from '../chain/token-accounts.ts'
export const COMPUTE_BUDGET = pubkeyFromBase58('ComputeBudget111111111111111111111111111111')
export const LOOKUP_TABLE = pubkeyFromBase58('AddressLookupTab1e1111111111111111111111111')
export const VOTE = pubkeyFromBase58('Vote111111111111111111111111111111111111111')
export const MEMO = pubkeyFromBase58('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
export const RENT_SYSVAR = pubkeyFromBase58('SysvarRent111111111111111111111111111111111')
export const SLOT_HASHES_SYSVAR = pubkeyFromBase58('SysvarS1otHashes111111111111111111111111111')
export const SYSVAR_OWNER = pubkeyFromBase58('Sysvar1111111111111111111111111111111111111')
export const METADATA_PROGRAM = pubkeyFromBase58('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')
export const USDC = pubkeyFromBase58('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')
