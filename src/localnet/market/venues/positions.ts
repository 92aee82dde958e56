import { samePubkey, type Pubkey } from '../../../chain/pubkey.ts'
import { liquidityWorth, type Range } from '../curves/concentrated.ts'
import { associatedTokenAccount } from '../../../signing/program-address.ts'
import { TOKEN_2022 } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { MarketPool, VenueWorld } from '../venue.ts'
import { canMove, newAddress, poolAddresses, type Caller, type Pair, type PoolTokens } from './pool-sides.ts'

/** A provider's share of a pool, represented by an NFT. */
export interface Position {
  readonly owner: Pubkey
  readonly address: Pubkey
  readonly nftMint: Pubkey
  readonly nftAccount: Pubkey
  liquidity: bigint
}

/** Maximum number of a pool's providers; above it a new provider adds nothing. Limits the pool's stored state. */
export const POSITION_LIMIT = 64

export function positionOf<P extends Position>(positions: readonly P[], owner: Pubkey): P | undefined {
  return positions.find((position) => samePubkey(position.owner, owner))
}

/** Creates a position whose NFT is in an account of its own, or in its owner's associated one. */
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

/** Creates the NFT: a Token-2022 mint with one token in the position's account. */
export function mintPositionNft(call: CallScript, position: Position, authority: Pubkey): void {
  const { nftMint: mint, nftAccount, owner } = position
  call.createMint({ address: mint, decimals: 0, authority, token2022: true })
  call.createTokenAccount(nftAccount, owner, mint)
  call.mintTo({ mint, to: nftAccount, authority, amount: 1n })
}

/** A pool whose liquidity is the sum of its providers' positions over one price range. */
interface PositionsPool extends PoolTokens, MarketPool {
  readonly sqrtPrice: bigint
  liquidity: bigint
  positions: Position[]
}

/** Liquidity added to or removed from a position. */
export interface PositionChange<P> {
  readonly adds: boolean
  readonly liquidity: bigint
  readonly amounts: Pair
  /** Undefined if the provider must open a position first. */
  readonly known: P | undefined
}

/** Returns the liquidity changes of a venue whose providers have positions over the given range. */
export function positionLiquidity<Pool extends PositionsPool>(
  range: Range,
  bits: bigint,
  write: (
    script: Caller,
    pool: Pool,
    owner: Pubkey,
    change: PositionChange<Pool['positions'][number]>,
    world: VenueWorld
  ) => void
) {
  return (script: Caller, pool: Pool, by: Pubkey, thousandths: number, world: VenueWorld): void => {
    const adds = thousandths > 0
    const known = positionOf<Pool['positions'][number]>(pool.positions, by)
    const liquidity = liquidityChange(thousandths, pool.liquidity, known)
    const amounts = liquidityWorth(liquidity, pool.sqrtPrice, range, bits, adds ? 'up' : 'down')
    if (!canMove(pool, world.ledger, by, adds, amounts)) return
    if (known === undefined && pool.positions.length >= POSITION_LIMIT) return
    write(script, pool, by, { adds, liquidity, amounts, known }, world)
  }
}

/** Changes the liquidity of a position and of its pool; removes an empty position. */
export function addLiquidity(pool: PositionsPool, position: Position, liquidity: bigint): void {
  position.liquidity += liquidity
  pool.liquidity += liquidity
  if (position.liquidity === 0n) pool.positions = pool.positions.filter((each) => each !== position)
}

/** Returns the accounts of a position and of its pool, by their names in account lists. */
export function positionAddresses<Pool extends PositionsPool>(
  pool: Pool,
  position: Position,
  ledger: LedgerView
) {
  const { address, owner, nftMint, nftAccount } = position
  return { ...poolAddresses(pool, owner, ledger), position: address, owner, nftMint, nftAccount }
}

/** Converts a change in thousandths of the pool to a position's liquidity; a removal is limited to the position's own. */
export function liquidityChange(thousandths: number, total: bigint, position: Position | undefined): bigint {
  const part = (total * BigInt(Math.abs(thousandths))) / 1000n
  if (thousandths > 0) return part
  const owned = position?.liquidity ?? 0n
  return part < owned ? part : owned
}
