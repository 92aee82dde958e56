import { refuseDamage } from '../../../actors/archive/fold-archive.ts'
import { isDiskFull } from '../../../actors/storage/disk-full.ts'
import { backoffMs, jittered } from '../../../machines/backoff.ts'
import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import { isSystemError } from '../../kernel/cli/system-error.ts'
import type { Config } from '../../kernel/config/config.ts'
import { ServiceError } from '../../kernel/errors.ts'
import type { SlotRow } from '../../market/rows.ts'
import { nodeAddresses } from '../../node/node-address.ts'
import { NodeError } from '../../node/node-fault.ts'
import { RangeSource, type SlotSpan } from '../../node/range-source.ts'
import { RpcClient } from '../../node/rpc-client.ts'
import { RpcNode } from '../../node/rpc-node.ts'
import { rangeNodes, type RangeNodes } from '../../ingest/commands/range-nodes.ts'
import { sleep, systemPorts } from '../../ports.ts'
import { slotRange } from '../../store/commands/slot-range.ts'
import { unusableDirectory } from '../../store/data-directory.ts'
import { isStoreThere, openStoreToRead } from '../../store/opening.ts'
import { FactWriter } from '../facts/fact-writer.ts'
import { FoldTally } from '../facts/held-back.ts'
import { MintDecimals } from '../facts/mint-decimals.ts'
import { wholeBlocks } from '../whole-blocks.ts'
import { addBlocks, type BlockAddition } from './added-blocks.ts'
import { backfillPlan, foreignChain, spanText } from './backfill-plan.ts'
import { BackfillProgress } from './backfill-progress.ts'
import { foldedEnds, onceASecond, runFold, settleSettings } from './fold-run.ts'
import { archiveText, foldLines, fullDiskText } from './import-report.ts'
import { requestsPerSecond, type NodeRateOption } from './node-rate.ts'
import { openOwnArchive, type OwnArchive } from './own-archive.ts'
import { recoverArchive } from './second-store.ts'

/** Blocks in flight: a block takes a second of the node's time, and 8 of the largest take 250 MB. */
const PREFETCH = 8
/** Time for which a block is requested before it counts as lost, in milliseconds. A node that restarts is back by then. */
const GIVE_UP_MS = 120_000
/** Attempts to reach a node at the start, and their backoff in milliseconds: half a minute in all. */
const PROBES_MAX = 6
const PROBE_BACKOFF = { floorMs: 1_000, ceilingMs: 15_000 }

/** The backfill cannot begin; the message is for the operator. */
class Refused extends Error {}

/**
 * Reads the blocks of a range of slots from the archive node into the archive, with progress. Resolves with 1 if a block
 * could not be read, and if the backfill was refused, failed or interrupted; with 2 for bad usage.
 */
export async function backfillArchive(invocation: Invocation<NodeRateOption>): Promise<number> {
  const { config, operands, options, interrupted, stderr } = invocation
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  const range = slotRange(operands[0]!)
  if (range === null) throw new BadUsage('give the first and the last slot, as in 300000000..300000999')
  const rate = requestsPerSecond(options)
  if (config.archiveRpcUrl.length === 0) {
    complain('set MILLRACE_ARCHIVE_RPC_URL to a node that has these blocks')
    return 2
  }
  const unusable = await unusableDirectory(config)
  if (unusable !== null) {
    complain(unusable)
    return 1
  }
  const nodes = nodesOf(config, rate)
  try {
    const usable = await reachedNodes(nodes, range.to, complain, interrupted)
    if (usable.genesis === null) return 1
    await recoverArchive(config)
    const archive = await openOwnArchive(config, complain, interrupted)
    try {
      return await backfill(range, archive, usable, invocation, complain)
    } finally {
      await archive.close()
    }
  } catch (error) {
    if (interrupted.aborted) complain('interrupted; rerun the command to continue')
    else if (isDiskFull(error)) complain(fullDiskText(config.dataDir))
    else if (error instanceof ServiceError) complain(error.detail)
    else if (error instanceof NodeError) complain(`${error.message}; rerun the command to continue`)
    else if (error instanceof Refused) complain(error.message)
    else if (isSystemError(error))
      complain(`a file of the archive cannot be written (${error.message}); rerun the command to continue`)
    else throw error
    return 1
  } finally {
    for (const node of nodes) await node.close()
  }
}

function nodesOf({ archiveRpcUrl }: Config, rate: number): RpcNode[] {
  const { clock } = systemPorts
  return nodeAddresses(archiveRpcUrl).map((address) => {
    const client = new RpcClient(address, clock, { requestsPerSecond: rate, concurrency: PREFETCH })
    return new RpcNode(client, clock, { commitment: 'finalized', isArchive: true })
  })
}

/** Finds the nodes that answer. Retries while none does, because a busy node may limit the rate. */
async function reachedNodes(
  nodes: readonly RpcNode[],
  to: number,
  complain: (line: string) => void,
  signal: AbortSignal
): Promise<RangeNodes> {
  const { clock, random } = systemPorts
  for (let round = 1; ; round++) {
    const found = await rangeNodes(nodes, to, complain, signal)
    if (found.genesis !== null || round === PROBES_MAX) return found
    await sleep(clock, jittered(backoffMs(PROBE_BACKOFF, round), random()), signal)
    signal.throwIfAborted()
  }
}

async function backfill(
  range: SlotSpan,
  archive: OwnArchive,
  { nodes, genesis }: RangeNodes,
  invocation: Invocation<NodeRateOption>,
  complain: (line: string) => void
): Promise<number> {
  const { config, interrupted, stdout, stderr } = invocation
  const { facts, storage, state, lost } = archive
  refuseDamage(storage)
  const firstLive = await comparedLive(storage, nodes, genesis!, invocation)
  const { due, live } = await backfillPlan(range, facts, firstLive?.slot ?? null)
  const head = (await storage.blocks.head())?.slot ?? null
  if (!state.value.hasBlocks && due.some(({ from }) => from <= (head ?? -1)))
    throw new Refused(
      `the archive was imported by an earlier version, which stored no facts, so it can only be continued: begin the range after slot ${head}`
    )
  if (live !== null) complain(`${spanText(live)} are left out, because the index has them or will have them`)
  const newest = Math.max(...nodes.map(({ headSlot }) => headSlot ?? 0))
  const isPastHead = (due.at(-1)?.to ?? 0) > newest
  if (isPastHead) complain(`the nodes end at slot ${newest}; later slots are not there yet`)
  await settleSettings(archive, config)
  const signal = AbortSignal.any([interrupted, lost])
  const writer = new FactWriter(facts, state, new MintDecimals(facts), head)
  const isWhole = await readSpans(due, nodes, { writer, config, signal }, invocation, complain)
  const tally = new FoldTally()
  const tell = onceASecond(stderr)
  if (!signal.aborted) await runFold(archive, { config, firstLive, tally, signal, stdout, tell })
  for (const line of foldLines(tally)) stdout(line)
  const ends = signal.aborted ? null : await foldedEnds(archive, config)
  if (ends !== null) stdout(`the archive has ${archiveText(ends)}`)
  if (!isWhole && !signal.aborted)
    complain('everything else is in the archive; rerun the command to retry the missing blocks')
  if (interrupted.aborted) complain('interrupted; rerun the command to continue')
  else if (lost.aborted)
    complain('the lease is lost, so another import may run now; rerun the command to continue')
  return signal.aborted || isPastHead || !isWhole ? 1 : 0
}

/** Reads the blocks of spans into the facts, with progress. Resolves with whether the nodes gave all of them. */
async function readSpans(
  due: readonly SlotSpan[],
  nodes: readonly RpcNode[],
  addition: Omit<BlockAddition, 'onBlock'>,
  { stdout, stderr }: Invocation<NodeRateOption>,
  complain: (line: string) => void
): Promise<boolean> {
  const progress = new BackfillProgress(due, systemPorts.clock, stderr)
  let isWhole = true
  const source = new RangeSource(nodes, {
    ...systemPorts,
    ranges: due,
    prefetch: PREFETCH,
    giveUpMs: GIVE_UP_MS,
    onFault: (detail) => progress.fault(detail),
    onLost: async (gap) => {
      complain(`${spanText(gap)} cannot be read (${gap.reason}): ${gap.detail}`)
      isWhole = false
      return true
    }
  })
  try {
    await addBlocks(source, { ...addition, onBlock: (block) => progress.added(block) })
  } finally {
    progress.close()
  }
  stdout(progress.summary)
  return isWhole
}

/**
 * Compares the nodes with the archive and the live store. Resolves with the first indexed block; rejects with Refused if they
 * are of another chain.
 */
async function comparedLive(
  archive: OwnArchive['storage'],
  nodes: readonly RpcNode[],
  genesis: string,
  { config, interrupted }: Invocation<NodeRateOption>
): Promise<SlotRow | null> {
  const live = (await isStoreThere(config)) ? await openStoreToRead(config, () => undefined) : null
  try {
    const stores = [
      { store: wholeBlocks(archive), name: 'the archive' },
      ...(live === null ? [] : [{ store: live, name: 'the index' }])
    ]
    for (const each of stores) {
      const refusal = await foreignChain(each, nodes, genesis, interrupted)
      if (refusal !== null)
        throw new Refused(
          `${refusal}; use another MILLRACE_DATA_DIR or MILLRACE_SCYLLA_KEYSPACE for this chain`
        )
    }
    await archive.coverage.settleGenesis(genesis)
    const first = (await live?.blocks.firstSince(0)) ?? null
    return first === null || live === null ? null : await live.blocks.at(first)
  } finally {
    await live?.close()
  }
}
