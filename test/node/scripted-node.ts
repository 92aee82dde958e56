import { sleep, type Clock } from '../../src/ports.ts'
import type { SourcedBlock } from '../../src/node/block-source.ts'
import { BlockFinder } from '../../src/node/block-finder.ts'
import { BlockSequence } from '../../src/node/block-sequence.ts'
import type {
  AbsentBlock,
  BlockAnswer,
  BlockHeader,
  ChainNode,
  FetchedBlock,
  SlotGap
} from '../../src/node/chain-node.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { settle, virtualClock, type VirtualClock } from '../virtual-time.ts'

/** Returns the block of a slot in a chain of empty blocks. */
export function emptyBlock(slot: number, parentSlot: number, fork = ''): FetchedBlock {
  return {
    kind: 'block',
    block: { slot, blockTime: 1_700_000_000 + slot, parentSlot, transactions: [], votes: 0 },
    blockhash: `h${slot}${fork}`,
    previousBlockhash: `h${parentSlot}`,
    unreadable: 0,
    body: null
  }
}

/** Returns blocks of a chain by slot; the first one's parent is the slot before it. */
export function chainOf(slots: readonly number[]): Map<number, FetchedBlock> {
  return new Map(slots.map((slot, at) => [slot, emptyBlock(slot, slots[at - 1] ?? slot - 1)]))
}

export function absent(why: AbsentBlock['why']): AbsentBlock {
  return { kind: 'absent', why, detail: `it says ${why}` }
}

/** A node on a virtual clock that answers as the test configures it. */
export class ScriptedNode implements ChainNode {
  readonly name: string
  readonly isArchive: boolean
  rank: number | null = 0
  headSlot: number | null
  /** Its blocks by slot. */
  readonly blocks: Map<number, FetchedBlock>
  /** One-time answers for a slot, used up before its block is returned. */
  readonly first = new Map<number, AbsentBlock[]>()
  /** The answer for slots without a block. */
  otherwise: AbsentBlock = absent('pending')
  /** Slots with a block that it does not list. */
  readonly unlisted = new Set<number>()
  /** Slots that it lists without having their block. */
  readonly phantoms = new Set<number>()
  delayMs: (slot: number) => number = () => 1
  listFails = 0
  genesisHash = 'genesis'
  readonly asked: number[] = []
  inFlight = 0
  mostInFlight = 0
  readonly #clock: Clock

  constructor(clock: Clock, name: string, blocks: Map<number, FetchedBlock>, isArchive = false) {
    this.#clock = clock
    this.name = name
    this.blocks = blocks
    this.isArchive = isArchive
    this.headSlot = Math.max(...blocks.keys())
  }

  async block(slot: number, signal: AbortSignal): Promise<BlockAnswer> {
    this.asked.push(slot)
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
    await sleep(this.#clock, this.delayMs(slot), signal)
    this.inFlight--
    signal.throwIfAborted()
    return this.first.get(slot)?.shift() ?? this.blocks.get(slot) ?? this.otherwise
  }

  async header(slot: number, signal: AbortSignal): Promise<BlockHeader | AbsentBlock> {
    await sleep(this.#clock, 1, signal)
    const found = this.blocks.get(slot)
    if (found === undefined) return this.otherwise
    const { block, blockhash, previousBlockhash } = found
    const { parentSlot, blockTime } = block
    return { kind: 'header', slot, parentSlot, blockTime, blockhash, parentBlockhash: previousBlockhash }
  }

  async genesis(): Promise<string> {
    return this.genesisHash
  }

  async slotsFrom(slot: number, limit: number, signal: AbortSignal): Promise<readonly number[]> {
    await sleep(this.#clock, 1, signal)
    signal.throwIfAborted()
    if (this.listFails > 0) {
      this.listFails--
      throw new NodeError(this.name, { kind: 'http', status: 500 })
    }
    return [...this.blocks.keys(), ...this.phantoms]
      .filter((each) => each >= slot && each <= (this.headSlot ?? -1) && !this.unlisted.has(each))
      .sort((a, b) => a - b)
      .slice(0, limit)
  }
}

/** Milliseconds of a clock step; coarse, because tests wait for minutes of virtual time. */
const STEP_MS = 5

/** A sequence over scripted nodes, read to its end by a test. */
export class Reading {
  readonly clock: VirtualClock = virtualClock()
  readonly slots: number[] = []
  readonly gaps: SlotGap[] = []
  /** Slots and gaps in the order of arrival. */
  readonly log: string[] = []
  readonly oddities: string[] = []
  readonly prefetch = 4
  readonly giveUpMs = 30_000
  #stop = new AbortController()
  #reading: Promise<void> = Promise.resolve()

  node(name: string, slots: readonly number[] | Map<number, FetchedBlock>, isArchive = false): ScriptedNode {
    const blocks = slots instanceof Map ? slots : chainOf(slots)
    return new ScriptedNode(this.clock, name, blocks, isArchive)
  }

  start(nodes: readonly ScriptedNode[], after: number | null): void {
    const { clock, giveUpMs, prefetch } = this
    const finder = new BlockFinder(nodes, { clock, random: () => 1, giveUpMs })
    const sequence = new BlockSequence(finder, {
      commitment: 'confirmed',
      prefetch,
      clock,
      headMoved: (ms, signal) => sleep(clock, Math.min(ms, 100), signal),
      onGap: (gap) => {
        this.gaps.push(gap)
        this.log.push(`${gap.reason} ${gap.from}-${gap.to}`)
      },
      onOddity: (slot, detail) => void this.oddities.push(`${slot}: ${detail}`)
    })
    this.#reading = this.#read(sequence.after(after, this.#stop.signal))
  }

  async #read(blocks: AsyncIterable<SourcedBlock>): Promise<void> {
    for await (const { block } of blocks) {
      this.slots.push(block.slot)
      this.log.push(String(block.slot))
    }
  }

  /** Advances the clock until a slot has arrived; returns false if it has not after `ms`. */
  async until(slot: number, ms: number): Promise<boolean> {
    await settle()
    for (let waited = 0; waited <= ms && this.slots.at(-1) !== slot; waited += STEP_MS) {
      this.clock.increment(STEP_MS)
      await settle()
    }
    return this.slots.at(-1) === slot
  }

  async end(): Promise<void> {
    this.#stop.abort()
    await settle()
    await this.#reading
  }
}

/** Returns the whole numbers from one to another, both included. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}
