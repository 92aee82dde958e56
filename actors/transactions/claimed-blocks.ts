import { NodeError } from '../../src/node/node-fault.ts'
import type { Clock } from '../../src/ports.ts'
import type { TransactionNode } from '../../src/transactions/ports.ts'
import { asTheyEnd } from './as-they-end.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'

/** Blocks requested at a time, and in a round of a second: a chain makes two and a half in that time. */
const BLOCKS_MAX = 4
/** Pause before a block that a node did not give is requested again, in milliseconds. A claim lasts a minute. */
const RETRY_MS = 15_000

export interface ClaimedBlocksDeps {
  readonly node: Pick<TransactionNode, 'blockSignatures'>
  readonly clock: Clock
}

/** A block that a node gave for the slot of a transaction's landing. */
export interface GivenBlock {
  readonly transaction: TrackedTransaction
  readonly slot: number
  /** Position of the transaction in the block; null if the block does not have it. */
  readonly index: number | null
}

/**
 * Requests the blocks of landings that one node alone states. A node with a wrong status rarely has a block that agrees with
 * it. A node that has no history, or has lost the block, proves nothing.
 */
export class ClaimedBlocks {
  readonly #deps: ClaimedBlocksDeps
  /** Unix milliseconds before which no block is requested, because no node gives any. */
  #notBeforeMs = 0

  constructor(deps: ClaimedBlocksDeps) {
    this.#deps = deps
  }

  /** Requests the blocks of claimed landings that are due. A fault of the nodes gives none. */
  async *check(all: readonly TrackedTransaction[], signal: AbortSignal): AsyncGenerator<GivenBlock> {
    const nowMs = this.#deps.clock.now()
    if (nowMs < this.#notBeforeMs) return
    const due = all.filter(({ state, askBlockAtMs }) => state === 'claimed' && askBlockAtMs <= nowMs)
    const bySlot = [...Map.groupBy(due, ({ context }) => context.slot!)].slice(0, BLOCKS_MAX)
    for (const each of bySlot.flatMap(([, transactions]) => transactions))
      each.askBlockAtMs = nowMs + RETRY_MS
    const given = asTheyEnd(
      bySlot,
      BLOCKS_MAX,
      async ([slot, transactions]) => ({
        ...{ slot, transactions },
        signatures: await this.#signaturesOf(slot, signal)
      }),
      signal
    )
    for await (const { slot, transactions, signatures } of given)
      for (const transaction of signatures === null ? [] : transactions) {
        const index = signatures!.indexOf(transaction.value.signature)
        yield { transaction, slot, index: index === -1 ? null : index }
      }
  }

  /** Returns the signatures of a block; null if no node gives it. */
  async #signaturesOf(slot: number, signal: AbortSignal): Promise<readonly string[] | null> {
    try {
      return await this.#deps.node.blockSignatures(slot, signal)
    } catch (error) {
      if (!(error instanceof NodeError) && !signal.aborted) throw error
      // A node that answers lacks this block; the others are requested all the same.
      const isAnswer = error instanceof NodeError && error.fault.kind === 'rpc'
      if (!isAnswer) this.#notBeforeMs = this.#deps.clock.now() + RETRY_MS
      return null
    }
  }
}
