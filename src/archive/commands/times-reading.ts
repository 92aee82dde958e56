import type { Config } from '../../kernel/config/config.ts'
import type { SlotRow } from '../../market/rows.ts'
import { rangeNodes } from '../../ingest/commands/range-nodes.ts'
import { nodeAddresses } from '../../node/node-address.ts'
import { NodeError } from '../../node/node-fault.ts'
import { systemPorts } from '../../ports.ts'
import { FactWriter } from '../facts/fact-writer.ts'
import { MintDecimals } from '../facts/mint-decimals.ts'
import { untimedSlots } from '../facts/untimed-slots.ts'
import { timeSlots, type MissingTimeReason, type TimeTally } from './slot-timing.ts'
import { TimeNode } from './time-node.ts'
import { wholeBlocks } from '../whole-blocks.ts'
import { foreignChain } from './backfill-plan.ts'
import type { OwnArchive } from './own-archive.ts'

export interface TimesReading {
  readonly config: Pick<Config, 'archiveRpcUrl' | 'rpcUrl'>
  readonly requestsPerSecond: number
  readonly firstLive: Pick<SlotRow, 'slot'> | null
  readonly tally: TimeTally
  readonly signal: AbortSignal
  readonly complain: (line: string) => void
  readonly onProgress: () => void
}

/**
 * Reads the times of slots that files name without a time: from the archive nodes, or else from the nodes of the service.
 * Sends no request if every slot has a time. Stored times are part of the facts.
 */
export async function readTimes(archive: OwnArchive, reading: TimesReading): Promise<void> {
  const { config, firstLive, tally, signal, complain } = reading
  const { facts, state, storage } = archive
  const end = firstLive?.slot ?? null
  const untimed = () => untimedSlots(facts, end)
  if (!(await isAny(untimed()))) return
  const { archiveRpcUrl, rpcUrl } = config
  const urls = archiveRpcUrl.length > 0 ? archiveRpcUrl : rpcUrl
  const nodes = nodeAddresses(urls).map(
    (address) => new TimeNode(address, systemPorts.clock, reading.requestsPerSecond)
  )
  try {
    const missAll = async (reason: MissingTimeReason): Promise<void> => {
      const slots = untimed()
      while ((await slots.next()).done !== true) tally.miss(reason)
    }
    if (nodes.length === 0) return await missAll('no-node')
    const usable = await usableNodes(nodes, archive, reading)
    if (typeof usable === 'string') return await missAll(usable)
    const head = (await storage.blocks.head())?.slot ?? null
    const writer = new FactWriter(facts, state, new MintDecimals(facts), head)
    await timeSlots(untimed(), {
      ...systemPorts,
      ...{ nodes: usable, writer, tally, signal },
      onRefused: complain,
      onProgress: reading.onProgress
    })
  } finally {
    await Promise.all(nodes.map((node) => node.close()))
  }
}

async function isAny(slots: AsyncGenerator<unknown, void>): Promise<boolean> {
  const { done } = await slots.next()
  await slots.return()
  return done !== true
}

/** Selects the nodes that answer and are of the archive's chain, or returns why no node is asked. */
async function usableNodes(
  nodes: readonly TimeNode[],
  { storage }: OwnArchive,
  { complain, signal }: TimesReading
): Promise<readonly TimeNode[] | MissingTimeReason> {
  const ofChain = nodes.map(({ node }) => node)
  const { nodes: answering, genesis } = await rangeNodes(ofChain, 0, complain, signal)
  if (genesis === null) return 'no-answer'
  try {
    const store = wholeBlocks(storage)
    const refusal = await foreignChain({ store, name: 'the archive' }, answering, genesis, signal)
    if (refusal !== null) {
      complain(`times of slots are not read: ${refusal}`)
      return 'other-chain'
    }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    complain(error.message)
    return 'no-answer'
  }
  // The genesis of the index is that of the archive by now.
  await storage.coverage.settleGenesis(genesis)
  return nodes.filter(({ node }) => answering.includes(node))
}
