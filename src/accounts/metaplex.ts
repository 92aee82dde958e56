import { programAddress } from '../signing/program-address.ts'
import { pubkeyFromBase58, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import { BorshText } from './borsh-text.ts'
import { keyOrNull } from './optional-key.ts'
import type { Account } from './ports.ts'
import { refused, type Refused } from './refused.ts'
import type { EmbeddedNames } from './token-metadata.ts'

export const METAPLEX_PROGRAM = pubkeyFromBase58('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')
/** First byte of a metadata account of version 1, the only version that the program creates. */
const METADATA_V1 = 4
const NAME_AT = 65
const SELLER_FEE_BYTES = 2
const CREATOR_BYTES = 34

/** Returns the address of a mint's metadata. */
export const metaplexAddress = (mint: Pubkey): Pubkey =>
  programAddress(['metadata', METAPLEX_PROGRAM, mint], METAPLEX_PROGRAM)

/** Reads a metadata account of Metaplex. `isMutable` is null in an account that ends before it. */
export function readMetaplex({ owner, data }: Pick<Account, 'owner' | 'data'>): EmbeddedNames | Refused {
  if (!samePubkey(owner, METAPLEX_PROGRAM)) return refused('is owned by another program')
  if (data[0] !== METADATA_V1) return refused('is not a metadata account')
  const reader = new BorshText(data, NAME_AT)
  const [name, symbol, uri] = [reader.text(), reader.text(), reader.text()]
  if (name === null || symbol === null || uri === null) return refused('has unreadable metadata')
  return {
    kind: 'names',
    mint: data.slice(33, 65),
    name,
    symbol,
    uri,
    updateAuthority: keyOrNull(data, 1),
    isMutable: mutableAfter(data, reader.offset + SELLER_FEE_BYTES)
  }
}

/** Reads the mutability flag, which follows the optional list of creators and the primary sale flag. */
function mutableAfter(data: Uint8Array, creatorsAt: number): boolean | null {
  if (creatorsAt + 1 > data.length || data[creatorsAt]! > 1) return null
  let at = creatorsAt + 1
  if (data[creatorsAt] === 1) {
    if (at + 4 > data.length) return null
    at += 4 + CREATOR_BYTES * new DataView(data.buffer, data.byteOffset).getUint32(at, true)
  }
  const flag = data[at + 1]
  return flag === 0 || flag === 1 ? flag === 1 : null
}
