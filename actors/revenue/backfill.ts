import type { Announcements } from '../../src/kernel/feed/announcements.ts'
import { RpcHistoryNode } from '../../src/revenue/history-node.ts'
import type { Storage } from '../../storage/port.ts'
import { FOLLOWER_POLICY } from '../followers/follower-policy.ts'
import { isOutage } from '../storage/retry.ts'
import { aborted } from '../supervision/aborted.ts'
import { DynamicSupervisor } from '../supervision/dynamic-supervisor.ts'
import type { Run } from '../supervision/process.ts'
import type { BackfillDeps } from './backfill-deps.ts'
import { LedgerBackfill } from './ledger-backfill.ts'

export interface BackfillInput extends Omit<BackfillDeps, 'storage' | 'node' | 'hasNode'> {
  /** Announces addresses that are watched, and requests for their history. */
  readonly watchedChanged: Announcements
  /** URLs of nodes with history; read at each use. */
  readonly urls: () => readonly string[]
  readonly requestsPerSecond: number
}

/** Reads the history of watched addresses from the archive nodes, in the process that writes the ledger. */
export function backfill<Needs extends { readonly storage: Storage }>(deps: BackfillInput): Run<Needs> {
  return async ({ input: { storage }, draining, signal, ready, gauge, supervises, report }) => {
    const { clock, urls, requestsPerSecond, watchedChanged } = deps
    const node = new RpcHistoryNode(urls, clock, requestsPerSecond)
    let running: LedgerBackfill | null = null
    gauge('backfills', () => running?.size ?? 0)
    gauge('requests_waiting', () => node.waiting)
    const unsubscribe = watchedChanged.subscribe(() => running?.hint())
    const backfills = new DynamicSupervisor(FOLLOWER_POLICY, { ...deps, report, isKnown: isOutage })
    supervises('backfills', () => backfills)
    ready()
    try {
      backfills.start('the history of ledgers', async (scope) => {
        running = new LedgerBackfill({ ...deps, storage, node, hasNode: () => urls().length > 0 })
        await running.run(scope.draining)
      })
      await aborted(draining)
      await backfills.drain(signal)
    } finally {
      unsubscribe()
      await node.close()
    }
  }
}
