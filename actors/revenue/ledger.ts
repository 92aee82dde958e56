import { aborted } from '../supervision/aborted.ts'
import type { LedgerFeed } from '../../src/revenue/ledger-feed.ts'
import type { LedgerBlocks } from '../../src/revenue/ledger-blocks.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import type { Announcements } from '../../src/kernel/feed/announcements.ts'
import type { Storage } from '../../storage/port.ts'
import { FOLLOWER_POLICY } from '../followers/follower-policy.ts'
import { isOutage } from '../storage/retry.ts'
import { DynamicSupervisor } from '../supervision/dynamic-supervisor.ts'
import type { Run } from '../supervision/process.ts'
import type { LedgerDeps } from './ledger-deps.ts'
import { LedgerFollower } from './ledger-follower.ts'

export interface LedgerNeeds {
  readonly storage: Storage
}

/** Lists the watched addresses before the first block is read: the ledger then lacks none. */
export function watchedAddresses<Needs extends LedgerNeeds>(blocks: LedgerBlocks): Run<Needs> {
  return async ({ input: { storage }, draining, ready }) => {
    const all = await new WatchedAddresses(storage.documents).all()
    blocks.watch(new Set(all.map(({ value }) => value.address)))
    ready()
    await aborted(draining)
  }
}

export interface LedgerInput extends Omit<LedgerDeps, 'storage' | 'stream'> {
  /** Announces addresses that are watched or no longer watched. */
  readonly watchedChanged: Announcements
}

/** Writes the ledger of watched addresses from the blocks that this process commits. */
export function ledger<Needs extends LedgerNeeds>(
  deps: LedgerInput,
  streamOf: (needs: Needs) => LedgerFeed
): Run<Needs> {
  return async ({ input, draining, signal, ready, gauge, supervises, report }) => {
    const { storage } = input
    const stream = streamOf(input)
    const { metrics, blocks, watchedChanged } = deps
    let follower: LedgerFollower | null = null
    const counts = { addresses: () => follower?.addresses ?? 0, waiting: () => blocks.waiting }
    gauge('addresses', counts.addresses)
    gauge('blocks_waiting', counts.waiting)
    gauge('slot', () => follower?.visibleSlot ?? 0)
    metrics.show(counts)
    const unsubscribe = watchedChanged.subscribe(() => follower?.hint())
    const followers = new DynamicSupervisor(FOLLOWER_POLICY, { ...deps, report, isKnown: isOutage })
    supervises('followers', () => followers)
    ready()
    try {
      followers.start('the follower of the ledger', async (scope) => {
        follower = new LedgerFollower({ ...deps, storage, stream })
        await follower.run(scope.draining)
      })
      await aborted(draining)
      await followers.drain(signal)
    } finally {
      unsubscribe()
      metrics.show(null)
    }
  }
}
