import { isStale } from '../../machines/landing.ts'
import type { Clock } from '../../src/ports.ts'
import type { BlockSightings, SightedBlock, SignatureStatus } from '../../src/transactions/ports.ts'
import { isPossibleLanding } from '../../src/transactions/possible-landing.ts'
import { SearchedBlocks } from '../../src/transactions/searched-blocks.ts'
import type { GivenBlock } from './claimed-blocks.ts'
import type { StatusAnswer } from './status-poller.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'
import type { TransactionFact } from './transaction-fact.ts'
import type { TransactionTable } from './transaction-table.ts'

/** Milliseconds after its last block for which a process counts as one that reads blocks: a dozen slots. */
const BLOCKS_MS = 5_000

export interface LandingEvidenceDeps {
  readonly table: TransactionTable
  readonly sightings: BlockSightings
  readonly clock: Clock
}

/**
 * Judges what blocks and nodes state about the landings of tracked transactions. Each event is to be applied before the next
 * one is read, because they build on each other.
 *
 * L1. A block that was read decides, either way: nodes cannot add a transaction to it, nor remove one while blocks come.
 * L2. A status that cannot be true is no answer: it proves neither a landing nor its absence.
 * L3. Several answers in a row that contradict a landing take it back, unless a block states it.
 */
export class LandingEvidence {
  readonly #deps: LandingEvidenceDeps
  readonly #searched: SearchedBlocks
  #blockAtMs = -Infinity

  constructor(deps: LandingEvidenceDeps) {
    this.#deps = deps
    this.#searched = new SearchedBlocks(deps.sightings)
  }

  /** Whether blocks arrive in this process. */
  get hasBlocks(): boolean {
    return this.#deps.clock.now() - this.#blockAtMs < BLOCKS_MS
  }

  /** Judges a node's answer. */
  answered(answer: StatusAnswer): Iterable<TransactionFact> {
    // Most answers say that a transaction has not landed, as it is known.
    return answer.status === null && answer.transaction.context.slot === null ? [] : this.#judged(answer)
  }

  /** Judges the block that a node gave for the slot of a landing. */
  blockGiven({ transaction, slot, index }: GivenBlock): TransactionFact[] {
    if (transaction.context.slot !== slot || transaction.context.evidence !== 'claim') return []
    if (index !== null)
      return [{ transaction, event: { type: 'landing.upheld', slot, evidence: 'block', index } }]
    transaction.refutedSlot = slot
    transaction.deniedAtMs = this.#deps.clock.now()
    return [{ transaction, event: { type: 'fork.lost', afterSlot: slot - 1 } }]
  }

  /** Accepts the word of one node about a landing, because nothing more can be found out. */
  accept(transaction: TrackedTransaction): TransactionFact[] {
    const { slot } = transaction.context
    if (slot === null) return []
    return [{ transaction, event: { type: 'landing.upheld', slot, evidence: 'node', index: null } }]
  }

  /** Judges a block that was read. */
  *seen(block: SightedBlock): Generator<TransactionFact, void> {
    const { slot, commitment, sightings, nonces } = block
    const atMs = this.#deps.clock.now()
    this.#blockAtMs = atMs
    this.#searched.add(slot)
    for (const { signature, index, failed } of sightings)
      for (const transaction of this.#deps.table.having(signature))
        yield { transaction, event: { type: 'block.seen', slot, commitment, index, failed, atMs } }
    for (const nonce of nonces)
      for (const transaction of this.#deps.table)
        if (transaction.noteNonce(nonce, block)) yield { transaction, event: null }
    // A block that was read without a transaction takes its landing back, whatever nodes say.
    for (const transaction of this.#deps.table) {
      const landed = transaction.context
      if (landed.slot !== null && landed.evidence !== 'block' && this.#isRefuted(transaction, landed.slot))
        yield { transaction, event: { type: 'fork.lost', afterSlot: landed.slot - 1 } }
    }
  }

  /** Takes back what was found in the blocks after a slot, which are of a lost fork. */
  *lost(afterSlot: number): Generator<TransactionFact, void> {
    this.#searched.forget(afterSlot)
    for (const transaction of this.#deps.table) {
      transaction.noteLost(afterSlot)
      yield { transaction, event: { type: 'fork.lost', afterSlot } }
    }
  }

  *#judged({ transaction, status, contextSlot }: StatusAnswer): Generator<TransactionFact, void> {
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
      yield { transaction, event: { type: 'fork.lost', afterSlot: slot - 1 } }
    }
    if (status === null) return
    const { nodes = 1 } = status
    yield { transaction, event: { type: 'status.seen', ...status, nodes, contextSlot, atMs } }
    if (status.commitment !== 'finalized' || nodes > 1 || transaction.isFinalToOne || transaction.isOver)
      return
    transaction.isFinalToOne = true
    transaction.askAtMs = 0
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
}
