import { samePubkey, type Pubkey } from '../../../chain/pubkey.ts'
import { associatedTokenAccount } from '../program-address.ts'
import { TOKEN_2022 } from '../../programs.ts'
import type { CallScript } from '../script.ts'
import type { VenueWorld } from '../venue.ts'
import { newAddress } from './pool-sides.ts'

/** A provider's part of a pool, which an NFT stands for. */
export interface Position {
  readonly owner: Pubkey
  readonly address: Pubkey
  readonly nftMint: Pubkey
  readonly nftAccount: Pubkey
  liquidity: bigint
}

/** Providers of a pool that are remembered; where there are more, one who comes new adds nothing. */
export const POSITION_LIMIT = 64

export function positionOf<P extends Position>(positions: readonly P[], owner: Pubkey): P | undefined {
  return positions.find((position) => samePubkey(position.owner, owner))
}

/** A position whose token lies in an account of its own, or in its owner's associated one. */
export function newPosition(owner: Pubkey, world: VenueWorld, token: 'own' | 'associated' = 'own'): Position {
  const nftMint = newAddress(world)
  return {
    owner,
    address: newAddress(world),
    nftMint,
    nftAccount: token === 'own' ? newAddress(world) : associatedTokenAccount(owner, nftMint, TOKEN_2022),
    liquidity: 0n
  }
}

/** Makes the NFT: a Token-2022 mint with one token in the position's account. */
export function mintPositionNft(call: CallScript, position: Position, authority: Pubkey): void {
  const { nftMint: mint, nftAccount, owner } = position
  call.createMint({ address: mint, decimals: 0, authority, token2022: true })
  call.createTokenAccount(nftAccount, owner, mint)
  call.mintTo({ mint, to: nftAccount, authority, amount: 1n })
}

/** The liquidity that a change in thousandths of the pool's means to a position: no more is taken than it has. */
export function liquidityChange(thousandths: number, total: bigint, position: Position | undefined): bigint {
  const part = (total * BigInt(Math.abs(thousandths))) / 1000n
  if (thousandths > 0) return part
  const owned = position?.liquidity ?? 0n
  return part < owned ? part : owned
}
