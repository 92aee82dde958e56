import type { Commitment } from '../../market/rows.ts'
import type { ChainEvent } from '../chain.ts'
import type { ChainStore } from './bank-store.ts'
import type { MadeSlot } from './block-production.ts'
import { blockOnDisk, lazyBlock, unpackAccounts } from './block-records.ts'
import type { RetainedBlock, RetainedBlocks } from './retained-blocks.ts'
import { WriteQueue } from './write-queue.ts'

type BlockEvent = Extract<ChainEvent, { readonly kind: 'block' }>

interface SlotCommitsDeps {
  readonly genesisHash: Uint8Array
  /** Number of slots whose blocks are retained. */
  readonly retainedSlots: number
  readonly blocks: RetainedBlocks
  /** Null if the chain has no directory. */
  readonly store: ChainStore | null
  /** Called with each block that is newly confirmed or finalized. */
  readonly settled: (event: BlockEvent) => void
}

/**
 * Writes produced slots to disk, with the market's notes. Then reports the blocks that become confirmed or finalized
 * (B1).
 */
export class SlotCommits {
  readonly #deps: SlotCommitsDeps
  readonly #writes: WriteQueue | null
  readonly #notes = new Map<string, Uint8Array>()
  /** Slots finalized since the last write. */
  #finalized: number[] = []

  constructor(deps: SlotCommitsDeps) {
    this.#deps = deps
    this.#writes = deps.store === null ? null : new WriteQueue(deps.store)
  }

  /** The reason why the disk queue accepts no further slot; null while it accepts slots. */
  get refusal(): Error | null {
    return this.#writes?.isFull === true ? new Error('the disk is too slow') : null
  }

  /** The error of a write; null before the first error. */
  get failure(): Error | null {
    return this.#writes?.failure ?? null
  }

  /** Returns the market's note under a name; null if the name has no note. */
  note(name: string): Uint8Array | null {
    return this.#notes.get(name) ?? null
  }

  takeNotes(notes: Iterable<readonly [string, Uint8Array]>): void {
    for (const [name, note] of notes) this.#notes.set(name, note)
  }

  /** Resolves when all slots are on disk. */
  written(): Promise<void> {
    return this.#writes?.flush() ?? Promise.resolve()
  }

  async close(): Promise<void> {
    await this.#writes?.close()
  }

  /** Resolves when the slots are durable and the blocks that they settle were reported. */
  commit(slot: MadeSlot): Promise<void> {
    const { blocks, retainedSlots, genesisHash } = this.#deps
    const writes = this.#writes
    for (const [name, note] of slot.notes) {
      if (note === null) this.#notes.delete(name)
      else this.#notes.set(name, note)
    }
    const { settled } = blocks
    const firstSlot = Math.min(blocks.slotFromEnd(retainedSlots), settled.finalized)
    const pruned = blocks.prune(Math.max(firstSlot, 0))
    if (writes === null) {
      this.#settle(slot.made)
      return Promise.resolve()
    }
    const write = {
      ...slot,
      genesisHash,
      blocks: slot.made.map(({ retained: { packed }, accounts, packedAccounts }) => ({
        packed,
        accounts,
        packedAccounts
      })),
      dropped: [...slot.dropped, ...pruned],
      finalized: this.#finalized.splice(0),
      firstSlot: blocks.firstSlot,
      settled
    }
    return writes.write(write, () => this.#settle(slot.made))
  }

  /** Records that a block is finalized. From then on the block is read from the disk, if the chain has one. */
  finalize(retained: RetainedBlock): void {
    const { store } = this.#deps
    retained.whole = null
    retained.accounts = null
    this.#finalized.push(retained.packed.header.slot)
    // The genesis block is written later.
    if (retained.isDurable && store !== null) leaveOnDisk(retained, store)
  }

  #settle(made: MadeSlot['made']): void {
    for (const { retained } of made) retained.isDurable = true
    for (const { commitment, retained } of this.#deps.blocks.settle()) {
      this.#deps.settled(eventOf(retained, commitment))
      retained.whole = null
      if (commitment === 'finalized') this.finalize(retained)
    }
  }
}

/** Returns the event of a settled block; packed data is unpacked when a listener reads it. */
function eventOf({ packed, accounts, whole }: RetainedBlock, commitment: Commitment): BlockEvent {
  if (whole !== null) return { kind: 'block', commitment, ...whole }
  return {
    kind: 'block',
    commitment,
    block: lazyBlock(packed),
    get accounts() {
      return accounts === null ? [] : unpackAccounts(accounts)
    }
  }
}

/** Leaves the bytes of a block on disk; they are read when they are needed. */
export function leaveOnDisk(retained: RetainedBlock, store: ChainStore): void {
  retained.packed = blockOnDisk(retained.packed, (slot) => store.block(slot))
}
