import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import type { Announcements } from '../../src/kernel/feed/announcements.ts'
import type { Storage } from '../../storage/port.ts'
import { aborted } from '../supervision/aborted.ts'
import { FOLLOWER_POLICY } from '../followers/follower-policy.ts'
import { isOutage } from '../storage/retry.ts'
import { DynamicSupervisor } from '../supervision/dynamic-supervisor.ts'
import type { Run } from '../supervision/process.ts'
import type { HolderDeps } from './holder-deps.ts'
import { HolderFollower } from './holder-follower.ts'
import { isFaultOfReading, READING_POLICY } from './list-reader.ts'

export interface HoldersDeps extends Omit<HolderDeps, 'storage' | 'node' | 'readings'> {
  /** Announces mints that were requested for the first time. */
  readonly requested: Announcements
  /** URLs of nodes; read at each use. */
  readonly urls: () => readonly string[]
}

export interface HoldersNeeds {
  readonly storage: Storage
}

/** Maintains holder lists from the blocks that this process commits. */
export function holders<Needs extends HoldersNeeds>(deps: HoldersDeps): Run<Needs> {
  return async ({ input: { storage }, draining, signal, ready, gauge, supervises, report }) => {
    const { clock, metrics, blocks, requested } = deps
    const node = new RpcAccountNode(deps.urls, clock)
    let follower: HolderFollower | null = null
    const count = (state: 'loading' | 'live' | 'stale'): number =>
      follower?.lists.filter((list) => list.state.state === state).length ?? 0
    const counts = {
      loading: () => count('loading'),
      live: () => count('live'),
      stale: () => count('stale'),
      accounts: () => follower?.lists.reduce((sum, { state }) => sum + state.accounts, 0) ?? 0,
      waiting: () => blocks.waiting
    }
    for (const name of ['loading', 'live', 'stale', 'accounts'] as const) gauge(name, counts[name])
    gauge('blocks_waiting', counts.waiting)
    gauge('slot', () => follower?.slot ?? 0)
    gauge('requests_waiting', () => node.waiting)
    metrics.show(counts)
    const unsubscribe = requested.subscribe(() => follower?.hint())
    const followers = new DynamicSupervisor(FOLLOWER_POLICY, { ...deps, report, isKnown: isOutage })
    const readings = new DynamicSupervisor(READING_POLICY, { ...deps, report, isKnown: isFaultOfReading })
    supervises('followers', () => followers)
    supervises('readings', () => readings)
    ready()
    try {
      followers.start('the follower of holder lists', async (scope) => {
        follower = new HolderFollower({ ...deps, storage, node, readings })
        await follower.run(scope.draining)
      })
      await aborted(draining)
      await followers.drain(signal)
    } finally {
      unsubscribe()
      metrics.show(null)
      await node.close()
    }
  }
}
