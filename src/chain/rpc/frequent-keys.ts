import { pubkeyFromBase58, type Pubkey } from '../pubkey.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../token-movement.ts'
import { VENUES } from '../venues.ts'

/** Keys that most decoded transactions name. Other keys seldom repeat, so a cache for them does not pay off. */
const FREQUENT = new Map<string, Pubkey>(
  [
    ...VENUES.flatMap(({ programs }) => programs),
    TOKEN_PROGRAM,
    TOKEN_2022_PROGRAM,
    SYSTEM_PROGRAM,
    'So11111111111111111111111111111111111111112',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
    'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'
  ].map((text) => [text, pubkeyFromBase58(text)])
)

/** Decodes a key text that was checked to have 32 bytes; a third of the requests need no decoding. */
export function keyOfText(text: string): Pubkey {
  return FREQUENT.get(text) ?? pubkeyFromBase58(text)
}
