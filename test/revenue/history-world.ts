import { Registry } from 'prom-client'
import type { Test } from 'tap'
import { LedgerBackfill } from '../../actors/revenue/ledger-backfill.ts'
import { PubkeyTable } from '../../src/chain/pubkey.ts'
import { readRpcBlock } from '../../src/chain/rpc/block.ts'
import { CashList } from '../../src/market/cash.ts'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import { systemPorts, type Clock } from '../../src/ports.ts'
import { BackfillJobs, jobOf } from '../../src/revenue/backfill-jobs.ts'
import type { BackfillJob } from '../../src/revenue/backfill-document.ts'
import { RpcHistoryNode, type HistoryNode } from '../../src/revenue/history-node.ts'
import { ledgerChanges } from '../../src/revenue/ledger-changes.ts'
import type { LedgerChange } from '../../src/revenue/ledger-entry.ts'
import type { LedgerRow } from '../../src/revenue/ledger-reader.ts'
import { backfillMetrics } from '../../src/revenue/metrics.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import type { LedgerSince } from '../../src/revenue/watch-history.ts'
import type { Storage } from '../../storage/port.ts'
import { textOfBlock } from '../followers/block-text.ts'
import { startNode, urlOf } from '../localnet/node/node-client.ts'
import { until } from '../service/asking.ts'
import type { LedgerWorld } from './ledger-world.ts'

export const TENANT = 'a'
const BEGINNING: LedgerSince = { slot: 0, ts: null }

/** Watches an address with a request for its history. */
export async function watchSince(
  world: LedgerWorld,
  address: string,
  since: LedgerSince | undefined = BEGINNING,
  tenant = TENANT
): Promise<void> {
  await new WatchedAddresses(world.storage.documents).watch(
    tenant,
    { address, label: address, role: 'other', since },
    systemPorts.clock.now()
  )
  world.follower.hint()
}

/** Opens the history of a bank by its node, with no limit of the rate. */
export async function nodeOf(t: Test, bank: LocalBank) {
  const local = await startNode(t, bank)
  const node = new RpcHistoryNode(() => [urlOf(local)], systemPorts.clock, 100_000)
  t.teardown(() => node.close())
  return { local, node }
}

/** A clock on which the waits of a backfill take a twentieth of their time. */
export function fastClock(): Clock {
  const startMs = systemPorts.clock.now()
  return {
    ...systemPorts.clock,
    now: () => startMs + (systemPorts.clock.now() - startMs) * FASTER,
    setTimeout: (run, ms) => systemPorts.clock.setTimeout(run, ms / FASTER)
  }
}

const FASTER = 20

export interface RunningBackfill {
  readonly backfill: LedgerBackfill
  readonly registry: Registry
  stop(): Promise<void>
}

/** Starts the reading of histories on a store; without a node if it is null. */
export function startBackfill(
  node: HistoryNode | null,
  storage: Storage,
  clock = fastClock()
): RunningBackfill {
  const registry = new Registry()
  const backfill = new LedgerBackfill({
    clock,
    random: systemPorts.random,
    storage,
    cash: new CashList(),
    node: node ?? new RpcHistoryNode(() => [], clock, 1),
    hasNode: () => node !== null,
    lead: { isHeld: true },
    metrics: backfillMetrics(registry),
    logger: { info: () => undefined, warn: () => undefined }
  })
  const end = new AbortController()
  const ended = backfill.run(end.signal).catch(() => undefined)
  return {
    backfill,
    registry,
    stop: async () => {
      end.abort()
      await ended
    }
  }
}

export const jobIn = (storage: Storage, address: string, tenant = TENANT): Promise<BackfillJob | null> =>
  new BackfillJobs(storage.documents).of(tenant, address)

/** Waits until the histories of addresses are stored and equal the chain, while the chain goes on. */
export async function whole(
  world: LedgerWorld,
  addresses: readonly string[],
  tenant = TENANT
): Promise<void> {
  await until(async () => {
    await world.slots(1)
    const watched = (await world.watched(tenant)).filter(({ address }) => addresses.includes(address))
    const jobs = await Promise.all(
      watched.map(async (each) => jobOf(each, await jobIn(world.storage, each.address, tenant)))
    )
    return jobs.every((job) => job?.phase === 'done')
  }, 'whole histories')
}

/** Returns the changes of an address in all blocks of a bank between two slots, as live capture gives them. Slot 0 is empty. */
export function changesOf(bank: LocalBank, address: string, from: number, to: number): readonly Placed[] {
  const found: Placed[] = []
  for (const slot of bank.blockSlots(Math.max(1, from), to, Number.MAX_SAFE_INTEGER, 'processed')) {
    const answer = bank.block(slot, 'processed')
    if (answer.kind !== 'block') throw new Error(`no block at slot ${slot}`)
    // The faucet of the first blocks has lamports that a double rounds, as in every block.
    const outcome = readRpcBlock(JSON.parse(textOfBlock(answer.block)))
    if (outcome.kind !== 'block') throw new Error(`the block of slot ${slot} is ${outcome.kind}`)
    const changes = ledgerChanges(outcome.block, new PubkeyTable([[address, address]]))
    for (const change of changes.get(address) ?? []) found.push({ slot, ...change })
  }
  return found
}

type Placed = LedgerChange & { readonly slot: number }

/** Returns a row without what its place in the chain does not decide: its values and its source. */
export function placed({ valueUsd, feeUsd, address, blockTime, source, ...change }: LedgerRow): Placed {
  return change
}
