import { samePubkey, type Pubkey } from '../../../chain/pubkey.ts'
import { liquidityWorth, type Range } from '../curves/concentrated.ts'
import { associatedTokenAccount } from '../program-address.ts'
import { TOKEN_2022 } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { MarketPool, VenueWorld } from '../venue.ts'
import { canMove, newAddress, poolAddresses, type Caller, type Pair, type PoolTokens } from './pool-sides.ts'

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

/** A pool whose liquidity is its providers' positions over one range of prices. */
interface PositionsPool extends PoolTokens, MarketPool {
  readonly sqrtPrice: bigint
  liquidity: bigint
  positions: Position[]
}

/** Liquidity that is added to a position, or removed from it. */
export interface PositionChange<P> {
  readonly adds: boolean
  readonly liquidity: bigint
  readonly amounts: Pair
  /** Undefined where the provider has to open one first. */
  readonly known: P | undefined
}

/** Returns the change of liquidity of a venue whose providers have positions over the range that is given. */
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

/** Changes the liquidity of a position and of its pool; an empty position is forgotten. */
export function addLiquidity(pool: PositionsPool, position: Position, liquidity: bigint): void {
  position.liquidity += liquidity
  pool.liquidity += liquidity
  if (position.liquidity === 0n) pool.positions = pool.positions.filter((each) => each !== position)
}

/** The accounts of a position and of its pool by the names that account lists have for them. */
export function positionAddresses<Pool extends PositionsPool>(
  pool: Pool,
  position: Position,
  ledger: LedgerView
) {
  const { address, owner, nftMint, nftAccount } = position
  return { ...poolAddresses(pool, owner, ledger), position: address, owner, nftMint, nftAccount }
}

/** The liquidity that a change in thousandths of the pool's means to a position: no more is taken than it has. */
export function liquidityChange(thousandths: number, total: bigint, position: Position | undefined): bigint {
  const part = (total * BigInt(Math.abs(thousandths))) / 1000n
  if (thousandths > 0) return part
  const owned = position?.liquidity ?? 0n
  return part < owned ? part : owned
}
