import type { DecodedBlock } from '../../../src/market/block.ts'
import {
  block,
  buy,
  curve,
  key,
  launch,
  liquidity,
  NOON,
  OTHER,
  POOL,
  poolChange,
  sell,
  SOL,
  solSale,
  TOKEN
} from '../../market/world.ts'

const BLOCKS = 24
/** Seconds from block to block: 24 blocks reach over two days. */
const BLOCK_SECONDS = 7_500

/**
 * The chain of the stores in this folder: a launch, its trades in dollars of SOL, its curve, a migration to a pool, a second
 * token, and liquidity. It must stay as it is: stores of earlier formats have it.
 */
export const FORMAT_CHAIN: readonly DecodedBlock[] = Array.from({ length: BLOCKS }, (_, n) => {
  const tokens = BigInt(1_000_000 + 37_000 * n)
  const trader = { user: key(300 + (n % 3)) }
  const events = [
    solSale(150 + n),
    buy(BigInt(10_000_000 + 310_000 * n), tokens, trader),
    ...(n % 2 === 0 ? [sell(tokens / 3n, BigInt(3_000_000 + 90_000 * n), trader)] : []),
    ...(n % 5 === 0 ? [buy(5_000_000n, 700_000n + BigInt(n), { outMint: OTHER, pool: key(102) })] : []),
    ...(n % 7 === 3 ? [liquidity({ event: n % 2 === 0 ? 'add' : 'remove', user: key(303) })] : [])
  ]
  const opening = [launch(), curve('create')]
  const middle = [curve('complete'), poolChange({ pool: key(110), quoteMint: SOL })]
  const others = n === 0 ? opening : n === BLOCKS / 2 ? middle : []
  return block(1_000 + n, NOON + n * BLOCK_SECONDS, [...others, ...events])
})

const POOLS = [POOL, key(101), key(102), key(110)]

/** Addresses in the chain, by kind. */
export const FORMAT_ADDRESSES = { mints: [TOKEN, OTHER, SOL], pools: POOLS, wallets: [key(300), key(301)] }
