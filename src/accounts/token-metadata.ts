import type { Pubkey } from '../chain/pubkey.ts'
import { BorshText } from './borsh-text.ts'
import { keyOrNull } from './optional-key.ts'
import { refused, type Refused } from './refused.ts'

/** Names of a token as chain accounts state them, without padding. */
export interface TokenNames {
  readonly name: string
  readonly symbol: string
  readonly uri: string
  /** Null when revoked. */
  readonly updateAuthority: Pubkey | null
  /** Null if the metadata does not state it. */
  readonly isMutable: boolean | null
}

/** Names inside a mint of Token-2022, with the mint to which they belong. */
export interface EmbeddedNames extends TokenNames {
  readonly kind: 'names'
  readonly mint: Pubkey
}

/** Reads the value of the extension `token_metadata`. */
export function readTokenMetadata(value: Uint8Array): EmbeddedNames | Refused {
  const reader = new BorshText(value, 64)
  const [name, symbol, uri] = [reader.text(), reader.text(), reader.text()]
  if (name === null || symbol === null || uri === null) return refused('has unreadable token metadata')
  const updateAuthority = keyOrNull(value, 0)
  return {
    kind: 'names',
    mint: value.slice(32, 64),
    name,
    symbol,
    uri,
    updateAuthority,
    // Without an update authority nobody can change a field.
    isMutable: updateAuthority !== null
  }
}
