import type { Test } from 'tap'
import type { Block } from '../../src/chain/transaction.ts'
import { MissingBlocks } from '../../src/node/missing-blocks.ts'
import { systemPorts } from '../../src/ports.ts'
import { plainTransaction } from '../chain/rpc/plain.ts'
import { startSource } from '../yellowstone/source-under-test.ts'
import type { RealValidator } from './real-validator.ts'
import { SourceRun } from './source-run.ts'

/** Time without a newer slot after which the readers' sources are stalled. */
const READER_STALL_MS = 3_000

/**
 * A node that a test restarts may be unavailable for five minutes on a starved machine; blocks that it then has are no gap.
 */
const GIVE_UP_MS = 600_000

const TUNING = {
  stallMs: READER_STALL_MS,
  giveUpMs: GIVE_UP_MS,
  backoff: { floorMs: 100, ceilingMs: 1_000 }
} as const

/** The blocks of a node, as a source delivers them. */
export interface RealReader {
  readonly name: string
  /** All content of a block by its slot, in the order of arrival. */
  readonly blocks: ReadonlyMap<number, string>
  /** States in the order of their first occurrence. */
  readonly states: ReadonlySet<string>
  /** Blocks that did not follow the previous one, slots that were abandoned, and logged errors. */
  readonly faults: readonly string[]
  end(): Promise<void>
}

/** Reads a node's blocks by polling and over gRPC. The sources run without a service, so that faults show sooner. */
export function readBothWays(t: Test, validator: RealValidator, genesis: string): RealReader[] {
  return [pollingReader(t, validator, genesis), streamReader(t, validator, genesis)]
}

class Blocks {
  readonly blocks = new Map<number, string>()
  readonly faults: string[] = []
  #last: number | null = null

  take(block: Block): void {
    const { slot, parentSlot } = block
    if (this.#last !== null && parentSlot !== this.#last)
      this.faults.push(`slot ${slot} follows ${parentSlot}, not ${this.#last}`)
    this.#last = slot
    this.blocks.set(slot, textOf(block))
  }
}

function pollingReader(t: Test, { url }: RealValidator, genesis: string): RealReader {
  const read = new Blocks()
  const tuning = { ...TUNING, probeMs: 100, client: { requestsPerSecond: Infinity } }
  const run = new SourceRun({ urls: [url], expectedGenesis: async () => genesis, tuning })
  run.read(null, (block) => read.take(block))
  const watch = watchStates(() => run.source.status.state)
  const end = async (): Promise<void> => {
    watch.end()
    await run.end()
    read.faults.push(...run.gaps.map((gap) => JSON.stringify(gap)))
  }
  t.teardown(end)
  return { name: 'rpc', blocks: read.blocks, states: watch.states, faults: read.faults, end }
}

function streamReader(t: Test, { url, grpcUrl }: RealValidator, genesis: string): RealReader {
  const read = new Blocks()
  const missing = new MissingBlocks({
    urls: [url],
    archiveUrls: [],
    commitment: 'confirmed',
    expectedGenesis: async () => genesis,
    onGenesis: async () => undefined,
    onRefused: (line) => void read.faults.push(line),
    clock: systemPorts.clock
  })
  const source = startSource(
    t,
    {
      url: grpcUrl,
      fetchMissing: (slot, signal) => missing.fetch(slot, signal),
      askNodes: (block, signal) => missing.standingOf(block, signal),
      tuning: { ...TUNING, graceMs: 500, retryMs: 200 }
    },
    null
  )
  const reading = (async () => {
    for (;;) for (const { block } of await source.take(1)) read.take(block)
  })().catch(() => undefined)
  const watch = watchStates(() => source.status()?.state)
  const end = async (): Promise<void> => {
    watch.end()
    await source.end()
    await reading
    await missing.close()
    read.faults.push(...[...source.gaps, ...source.forks].map((each) => JSON.stringify(each)))
  }
  t.teardown(end)
  return { name: 'yellowstone', blocks: read.blocks, states: watch.states, faults: read.faults, end }
}

function watchStates(state: () => string | undefined) {
  const states = new Set<string>()
  const timer = setInterval(() => {
    const now = state()
    if (now !== undefined) states.add(now)
  }, 20)
  return { states, end: () => clearInterval(timer) }
}

/**
 * Returns slot, time, parent and votes, and for each transaction its signature, accounts, instructions, balances, logs, fee
 * and outcome.
 */
function textOf(block: Block): string {
  const { slot, blockTime, parentSlot, votes, transactions } = block
  const plain = { slot, blockTime, parentSlot, votes, transactions: transactions.map(plainTransaction) }
  return JSON.stringify(plain, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))
}
