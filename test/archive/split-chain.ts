import fc from 'fast-check'
import type { ChainEvent } from '../../src/chain/events.ts'
import { pubkeyMapKey, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { Archive } from '../../src/archive/archive.ts'
import { withArchive } from '../../src/archive/with-archive.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { isLaunchpad } from '../../src/market/curves.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { ingestAll } from '../market/memory-store.ts'
import { anyChain, anyChainWithUnsteadyTimes, key, OPTIONS, SOL, vaultOf } from '../market/world.ts'
import { modelStorage, type ModelStorage } from './model-storage.ts'

/** A chain, and the number of its blocks that are in the archive. */
export const anySplitChain: fc.Arbitrary<{ readonly chain: DecodedBlock[]; readonly archived: number }> = fc
  .oneof(anyChain, anyChainWithUnsteadyTimes)
  .filter((chain) => chain.length > 1)
  .chain((chain) =>
    fc.record({
      chain: fc.constant(asOnChain(chain)),
      archived: fc.integer({ min: 1, max: chain.length - 1 })
    })
  )

/**
 * Returns a chain in which each pool has equal mints in all events, and a mint has one curve and begins with its launch, if
 * it has one. On the real chain that is always so.
 */
function asOnChain(chain: readonly DecodedBlock[]): DecodedBlock[] {
  const seen = new Set<string>()
  const isLate = (event: ChainEvent): boolean => {
    const mints = event.kind === 'trade' ? [event.inMint, event.outMint] : [event.baseMint, event.quoteMint]
    const late = event.kind === 'launch' && seen.has(pubkeyMapKey(event.baseMint))
    for (const mint of mints) if (mint !== null) seen.add(pubkeyMapKey(mint))
    return late
  }
  return chain.map((block) => ({
    ...block,
    entries: block.entries
      .map((entry) => ({ ...entry, event: inOwnPool(entry.event) }))
      .filter(({ event }) => !isLate(event))
  }))
}

function inOwnPool(event: ChainEvent): ChainEvent {
  if (event.kind === 'trade') {
    const isOnCurve = [event.inMint, event.outMint].some((mint) => samePubkey(mint, SOL))
    const venue = isLaunchpad(event.venue) && !isOnCurve ? 'pumpswap' : event.venue
    const pool = poolOf(event.inMint, event.outMint)
    const { vaults } = event
    const vault = (side: 'in' | 'out'): Pubkey | null =>
      vaults?.[side] == null ? null : vaultOf(pool, event[`${side}Mint`])
    return { ...event, venue, pool, ...(vaults && { vaults: { in: vault('in'), out: vault('out') } }) }
  }
  const baseMint = event.baseMint ?? key(3)
  const quoteMint = event.kind === 'launch' || event.kind === 'curve' ? SOL : (event.quoteMint ?? SOL)
  const pool = poolOf(baseMint, quoteMint)
  const named = { ...event, baseMint, quoteMint, pool }
  if (named.kind === 'pool') {
    const baseVault = named.baseVault && vaultOf(pool, baseMint)
    return { ...named, baseVault, quoteVault: named.quoteVault && vaultOf(pool, quoteMint) }
  }
  return 'curve' in named ? { ...named, curve: pool } : named
}

/** Returns the pool of two mints, in either order. */
const poolOf = (a: Pubkey, b: Pubkey): Pubkey =>
  Uint8Array.from({ length: 32 }, (_, at) => (a[at]! ^ b[at]!) & 255)

export interface SplitStores {
  readonly archive: ModelStorage
  readonly live: ModelStorage
  /** One store with the blocks of both, as they were folded apart; only its lists of rows are those of a single store. */
  readonly whole: ModelStorage
  readonly market: ReturnType<typeof withArchive>
}

/** Folds the two halves of a chain, each from an empty store. */
export function splitStores(chain: readonly DecodedBlock[], archived: number): SplitStores {
  const commits = [chain.slice(0, archived), chain.slice(archived)].map(commitsOf)
  return storesOf(commits[0]!, commits[1]!)
}

export function storesOf(earlier: readonly BlockCommit[], later: readonly BlockCommit[]): SplitStores {
  const archive = modelStorage(earlier)
  const live = modelStorage(later)
  const [first, last] = [earlier[0]!.slot, earlier.at(-1)!.slot]
  const handle: Archive = { storage: archive.storage, first, last, isAdjacent: true }
  return {
    archive,
    live,
    whole: modelStorage([...earlier, ...later]),
    market: withArchive(live.storage, handle)
  }
}

export const commitsOf = (chain: readonly DecodedBlock[]): BlockCommit[] =>
  ingestAll(chain, OPTIONS).folds.map((fold) => ({ ...fold, log: encodeLog(fold, OPTIONS.cash) }))
