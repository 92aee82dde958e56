import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { MintVolume } from './minute-volumes.ts'
import type { BlockCommit } from './records.ts'
import type { LaunchRow } from './rows.ts'
import { minuteOf } from './sol-usd.ts'

/** A mint with activity in a block. Its volume is the total of the block's minute; 0 trades if it has none there. */
export interface DigestedMint extends MintVolume {
  readonly mapKey: string
}

/** A launch as the index of names has it. */
export type DigestedLaunch = Pick<LaunchRow, 'mint' | 'symbol' | 'name'>

/** The changes of a block without its rows, for followers that need no more. Addresses are map keys, each once. */
export interface BlockDigest {
  /** Number of trades, pool events and launches. */
  readonly events: number
  /** Mints with an hour of activity. Each change of a mint, also its launch, has one. */
  readonly mints: readonly DigestedMint[]
  /** All other addresses whose object changes: pools, curves, wallets, and mints without activity. */
  readonly others: readonly string[]
  readonly hasLaunches: boolean
  /** All launches of the block; null if there are some and the version that stored the digest left them out. */
  readonly launches: readonly DigestedLaunch[] | null
  readonly hasSolPrices: boolean
  /** Tells whether the block changes an object at an address. */
  has(mapKey: string): boolean
}

const digests = new WeakMap<BlockCommit, BlockDigest>()

/** Returns the digest of a block: the one stored with it, or one that is made of its rows once. */
export function digestOf(block: BlockCommit): BlockDigest {
  let digest = digests.get(block)
  if (digest === undefined) digests.set(block, (digest = makeDigest(block)))
  return digest
}

/** Sets the digest of a block that was stored with it, so that its rows are not read for one. */
export function setDigest(block: BlockCommit, digest: BlockDigest): void {
  digests.set(block, digest)
}

function makeDigest(block: BlockCommit): BlockDigest {
  const { trades, poolEvents, launches, solPrices } = block
  const mints = mintsOf(block)
  const others = new Set<string>()
  for (const address of addressesOf(block)) others.add(pubkeyMapKey(address))
  for (const key of mints.keys()) others.delete(key)
  const digest: BlockDigest = {
    events: trades.length + poolEvents.length + launches.length,
    mints: [...mints.values()],
    others: [...others],
    hasLaunches: launches.length > 0,
    launches: launches.map(({ mint, symbol, name }) => ({ mint, symbol, name })),
    hasSolPrices: solPrices.length > 0,
    // Rarely used: the rows themselves are at hand.
    has: (mapKey) => digest.mints.some((each) => each.mapKey === mapKey) || digest.others.includes(mapKey)
  }
  return digest
}

function mintsOf({ activity, slot }: BlockCommit): ReadonlyMap<string, DigestedMint> {
  const minute = minuteOf(slot.blockTime)
  const mints = new Map<string, DigestedMint>()
  for (const { of, owner, minutes } of activity) {
    if (of !== 'mint') continue
    const mapKey = pubkeyMapKey(owner)
    const total = minutes.findLast((each) => each.minute === minute)
    // One of two hours of a mint has the minute of the block.
    if (total !== undefined)
      mints.set(mapKey, { mapKey, trades: total.trades, microUsd: total.volumeMicroUsd })
    else if (!mints.has(mapKey)) mints.set(mapKey, { mapKey, trades: 0, microUsd: 0n })
  }
  return mints
}

/** Yields the addresses of all objects that a block changes; some of them repeatedly. */
function* addressesOf(block: BlockCommit): Generator<Pubkey> {
  for (const { mint, pool, user } of block.trades) yield* [mint, pool, user]
  for (const { pool } of block.poolEvents) yield pool
  for (const { owner } of block.activity) yield owner
  for (const { mint } of block.candles) yield mint
  for (const { mint } of block.pairs) yield mint
  for (const { mint } of block.tokens) yield mint
  for (const { pool, base, quote } of block.pools) yield* [pool, base, quote]
  for (const { mint, curve } of block.curves) yield* [mint, curve]
  for (const { mint, curve } of block.launches) yield* [mint, curve]
}
