import { pubkeyFromBase58, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../chain/token-movement.ts'

/** Names of the two token programs on the wire. */
export const TOKEN_PROGRAM_NAMES = ['spl-token', 'token-2022'] as const
export type TokenProgramName = (typeof TOKEN_PROGRAM_NAMES)[number]

export const TOKEN_PROGRAM_KEYS: Readonly<Record<TokenProgramName, Pubkey>> = {
  'spl-token': pubkeyFromBase58(TOKEN_PROGRAM),
  'token-2022': pubkeyFromBase58(TOKEN_2022_PROGRAM)
}

/** Returns the token program with an address; null for any other program. */
export function tokenProgramOf(owner: Pubkey): TokenProgramName | null {
  for (const name of TOKEN_PROGRAM_NAMES) if (samePubkey(TOKEN_PROGRAM_KEYS[name], owner)) return name
  return null
}
