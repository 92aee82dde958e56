import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import { sleep } from '../../src/ports.ts'
import type { Announcements } from '../../src/views/announcements.ts'
import type { Storage } from '../../storage/port.ts'
import { isOutage } from '../storage/retry.ts'
import type { Run } from '../supervision/process.ts'
import type { HolderDeps } from './holder-deps.ts'
import { HolderFollower } from './holder-follower.ts'

export interface HoldersDeps extends Omit<HolderDeps, 'storage' | 'node' | 'report'> {
  /** Announces mints that were requested for the first time. */
  readonly requested: Announcements
  /** URLs of nodes; read at each use. */
  readonly urls: () => readonly string[]
}

export interface HoldersNeeds {
  readonly storage: Storage
}

/** Milliseconds between a failure of the store, or the end of a lead, and the next try. */
const RETRY_MS = 1_000

/** Maintains holder lists from the blocks that this process commits. */
export function holders<Needs extends HoldersNeeds>(deps: HoldersDeps): Run<Needs> {
  return async ({ input: { storage }, draining, ready, gauge, report }) => {
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
    ready()
    try {
      while (!draining.aborted) {
        follower = new HolderFollower({ ...deps, storage, node, report })
        await follower.run(draining).catch((error: unknown) => {
          if (!isOutage(error)) report(error)
        })
        if (!draining.aborted) await sleep(clock, RETRY_MS, draining)
      }
    } finally {
      unsubscribe()
      metrics.show(null)
      await node.close()
    }
  }
}
