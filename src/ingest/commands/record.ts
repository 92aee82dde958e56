import type { Config } from '../../kernel/config/config.ts'
import { BlockFolder } from '../../node/block-folder.ts'
import { nodeAddresses } from '../../node/node-address.ts'
import { NodeError } from '../../node/node-fault.ts'
import { RpcClient } from '../../node/rpc-client.ts'
import { RpcNode } from '../../node/rpc-node.ts'
import { Recording, type RecordingCounts } from '../../node/recording.ts'
import { systemPorts } from '../../ports.ts'
import { BadUsage, type CommandContext, type Invocation } from '../../kernel/cli/command.ts'
import { rangeNodes } from './range-nodes.ts'
import { slotRange, type SlotRange } from '../../store/commands/slot-range.ts'

const PREFETCH = 8
const GIVE_UP_MS = 30_000
const PROGRESS_MS = 1_000

/** Commitment of recorded blocks; a recorded folder is read as finalized. */
const COMMITMENT = 'finalized'

/**
 * Downloads the blocks of a range of slots into the recorded folder, with progress. A repeated run downloads only
 * missing blocks. Resolves with 1 if a block is missing in the end.
 */
export async function record(invocation: Invocation): Promise<number> {
  const { operands, config, stderr } = invocation
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  const range = slotRange(operands[0]!)
  if (range === null) throw new BadUsage('give the first and the last slot, as in 300000000..300000999')
  const { recordedDir } = config
  if (recordedDir === null) complain('set MILLRACE_RECORDED_DIR to the folder to record into')
  if (config.rpcUrl.length === 0) complain('set MILLRACE_RPC_URL to a node to download from')
  if (recordedDir === null || config.rpcUrl.length === 0) return 2
  const nodes = nodesOf(config)
  try {
    const { nodes: usable } = await rangeNodes(nodes, range.to, complain, invocation.interrupted)
    if (usable.length === 0) return 1
    const folder = await BlockFolder.open(recordedDir, range.from, range.to, invocation.interrupted)
    for (const name of folder.torn) complain(`${name} is incomplete and is redownloaded`)
    return await download(usable, folder, range, invocation, complain)
  } catch (error) {
    if (invocation.interrupted.aborted) complain('interrupted; rerun the command to continue')
    else if (error instanceof NodeError) complain(`${error.message}; rerun the command to continue`)
    else complain((error as Error).message)
    return 1
  } finally {
    for (const node of nodes) await node.close()
  }
}

function nodesOf({ rpcUrl, archiveRpcUrl }: Config): RpcNode[] {
  const { clock } = systemPorts
  const live = new Set(rpcUrl).size
  return nodeAddresses([...rpcUrl, ...archiveRpcUrl]).map((address, at) => {
    const client = new RpcClient(address, clock)
    return new RpcNode(client, clock, { commitment: COMMITMENT, isArchive: at >= live, keepBody: true })
  })
}

async function download(
  nodes: readonly RpcNode[],
  folder: BlockFolder,
  range: SlotRange,
  { stdout, stderr, interrupted }: CommandContext,
  complain: (line: string) => void
): Promise<number> {
  const startedMs = systemPorts.clock.now()
  let toldMs = startedMs
  const recording = new Recording(nodes, folder, {
    ...range,
    prefetch: PREFETCH,
    giveUpMs: GIVE_UP_MS,
    ports: systemPorts,
    onBlock: () => {
      const nowMs = systemPorts.clock.now()
      if (nowMs - toldMs < PROGRESS_MS) return
      toldMs = nowMs
      stderr(progressOf(recording.counts, range, nowMs - startedMs))
    },
    onGap: ({ from, to, reason, detail }) =>
      complain(`slots ${from} to ${to} are not available (${reason}): ${detail}`)
  })
  await recording.run(interrupted)
  const { written, kept, missing, isStopped, slot } = recording.counts
  if (isStopped) complain(`too many blocks are missing; slots after ${slot} were not tried`)
  stderr(progressOf(recording.counts, range, systemPorts.clock.now() - startedMs))
  stdout(
    `${written + kept} blocks of slots ${range.from} to ${range.to} are in ${folder.directory}: ${written} new, ` +
      `${kept} there before${missing > 0 ? `, ${missing} times blocks are missing` : ''}`
  )
  return missing > 0 ? 1 : 0
}

function progressOf(
  { slot, written, kept, bytes }: RecordingCounts,
  { from, to }: SlotRange,
  ms: number
): string {
  const share = Math.floor((100 * (Math.max(slot, from) - from + 1)) / (to - from + 1))
  const rate = (written / Math.max(ms / 1000, 0.001)).toFixed(1)
  const size = (bytes / 1e6).toFixed(1)
  return `slot ${slot}, ${share} %: ${written} blocks downloaded, ${kept} there before, ${size} MB, ${rate} blocks/s`
}
