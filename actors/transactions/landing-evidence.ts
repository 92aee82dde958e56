import { isStale } from '../../machines/landing.ts'
import type { TransactionEvent } from '../../machines/transaction.machine.ts'
import type { Clock } from '../../src/ports.ts'
import type { BlockSightings, SightedBlock, SignatureStatus } from '../../src/transactions/ports.ts'
import { isPossibleLanding } from '../../src/transactions/possible-landing.ts'
import { SearchedBlocks } from '../../src/transactions/searched-blocks.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'
import type { TransactionTable } from './transaction-table.ts'

/** Milliseconds after its last block for which a process counts as one that reads blocks: a dozen slots. */
const BLOCKS_MS = 5_000

export interface LandingEvidenceDeps {
  readonly table: TransactionTable
  readonly sightings: BlockSightings
  readonly clock: Clock
  /** Applies an event of a transaction. */
  readonly apply: (transaction: TrackedTransaction, event: TransactionEvent) => void
  /** Called when a transaction is to be polled without waiting for the next round. */
  readonly wake: () => void
}

/**
 * Judges what blocks and nodes state about the landings of tracked transactions.
 *
 * L1. A block that was read decides, either way: nodes cannot add a transaction to it, nor remove one while blocks come.
 * L2. A status that cannot be true is no answer: it proves neither a landing nor its absence.
 * L3. Several answers in a row that contradict a landing take it back, unless a block states it.
 */
export class LandingEvidence {
  readonly #deps: LandingEvidenceDeps
  readonly #searched: SearchedBlocks
  readonly #unsubscribe: () => void
  #blockAtMs = -Infinity

  constructor(deps: LandingEvidenceDeps) {
    this.#deps = deps
    this.#searched = new SearchedBlocks(deps.sightings)
    this.#unsubscribe = deps.sightings.subscribe({
      seen: (block) => this.#seen(block),
      lost: (afterSlot) => this.#lost(afterSlot)
    })
  }

  /** Whether blocks arrive in this process. */
  get hasBlocks(): boolean {
    return this.#deps.clock.now() - this.#blockAtMs < BLOCKS_MS
  }

  /** Records a node's answer; `status` is null if the transaction had not landed at its slot. */
  answered(transaction: TrackedTransaction, status: SignatureStatus | null, contextSlot: number): void {
    const atMs = this.#deps.clock.now()
    // A wrong answer is no answer: neither a landing nor its absence.
    if (status !== null && !this.#isCredible(transaction, status, contextSlot))
      return transaction.noteAnswer(false, atMs)
    const { slot, evidence } = transaction.context
    const isOld = status === null || isStale(transaction.context, status)
    // A block that was read is dropped by the blocks that follow, as long as they come.
    const isFirm = evidence === 'block' && this.hasBlocks
    if (isOld && slot !== null && !isFirm && transaction.isContradicted(contextSlot)) {
      transaction.deniedAtMs = atMs
      this.#deps.apply(transaction, { type: 'fork.lost', afterSlot: slot - 1 })
    }
    if (status === null) return
    const { nodes = 1 } = status
    this.#deps.apply(transaction, { type: 'status.seen', ...status, nodes, contextSlot, atMs })
    if (status.commitment !== 'finalized' || nodes > 1 || transaction.isFinalToOne || transaction.isOver)
      return
    transaction.isFinalToOne = true
    transaction.askAtMs = 0
  }

  /** Records the block that a node gave for the slot of a landing: the position in it, or null if it is not there. */
  blockGiven(transaction: TrackedTransaction, slot: number, index: number | null): void {
    if (transaction.context.slot !== slot || transaction.context.evidence !== 'claim') return
    if (index !== null)
      return this.#deps.apply(transaction, { type: 'landing.upheld', slot, evidence: 'block', index })
    transaction.refutedSlot = slot
    transaction.deniedAtMs = this.#deps.clock.now()
    this.#deps.apply(transaction, { type: 'fork.lost', afterSlot: slot - 1 })
  }

  /** Accepts the word of one node about a landing, because nothing more can be found out. */
  accept(transaction: TrackedTransaction): void {
    const { slot } = transaction.context
    if (slot === null) return
    this.#deps.apply(transaction, { type: 'landing.upheld', slot, evidence: 'node', index: null })
  }

  /** Stops reading blocks. */
  end(): void {
    this.#unsubscribe()
  }

  #seen(block: SightedBlock): void {
    const { slot, commitment, sightings, nonces } = block
    const atMs = this.#deps.clock.now()
    this.#blockAtMs = atMs
    this.#searched.add(slot)
    for (const { signature, index, failed } of sightings)
      for (const each of this.#deps.table.having(signature))
        this.#deps.apply(each, { type: 'block.seen', slot, commitment, index, failed, atMs })
    for (const nonce of nonces)
      for (const each of this.#deps.table) if (each.noteNonce(nonce, block)) this.#deps.wake()
    for (const each of this.#deps.table) this.#refute(each)
  }

  /** Takes back the landing of a transaction in a block that was read without it, whatever nodes say. */
  #refute(transaction: TrackedTransaction): void {
    const { slot, evidence } = transaction.context
    if (slot !== null && evidence !== 'block' && this.#isRefuted(transaction, slot))
      this.#deps.apply(transaction, { type: 'fork.lost', afterSlot: slot - 1 })
  }

  /** Tells whether the block of a slot was searched for a transaction and does not have it. */
  #isRefuted({ unsearchedTo, sightedSlot, refutedSlot }: TrackedTransaction, slot: number): boolean {
    if (slot === sightedSlot) return false
    return slot === refutedSlot || (slot > unsearchedTo && this.#searched.has(slot))
  }

  /** Tells whether a status can be true, as far as this process knows. */
  #isCredible(transaction: TrackedTransaction, status: SignatureStatus, contextSlot: number): boolean {
    const { value, unusedNonceSlot, isBlockhashOld } = transaction
    if (status.slot > contextSlot || this.#isRefuted(transaction, status.slot)) return false
    if ((status.nodes ?? 1) > 1) return true
    return isPossibleLanding(
      { ...value, unusedNonceSlot, isBlockhashOld },
      status,
      contextSlot,
      this.#deps.clock.now()
    )
  }

  #lost(afterSlot: number): void {
    this.#searched.forget(afterSlot)
    for (const each of this.#deps.table) {
      each.noteLost(afterSlot)
      this.#deps.apply(each, { type: 'fork.lost', afterSlot })
    }
  }
}
