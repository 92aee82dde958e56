import { pubkeyMapKey } from '../../chain/pubkey.ts'
import type { Commitment } from '../../market/rows.ts'
import type { LocalBlock, LocalChain } from '../chain.ts'
import { computeUnitPrice } from './compute-budget.ts'
import { wireOf } from './transaction-encoding.ts'

/** Number of recent blocks whose fees are reported (agave, MAX_NUM_RECENT_BLOCKS). */
const FEE_BLOCKS_MAX = 150

interface BlockFees {
  readonly slot: number
  /** Micro-lamports per compute unit: the lowest paid in the block, and the lowest for each written account. */
  readonly least: number
  readonly byAccount: ReadonlyMap<string, number>
}

/** Counts of transactions and lowest fees by block, so that blocks need not be reread. */
export class BlockStatistics {
  readonly #chain: LocalChain
  /** Fees of confirmed blocks, oldest first. */
  #fees: BlockFees[] = []
  #counted = { confirmed: 0, finalized: 0 }

  /** Counts from the first retained block on. */
  constructor(chain: LocalChain) {
    this.#chain = chain
    const [confirmed, finalized] = [chain.slot('confirmed'), chain.slot('finalized')]
    const slots = chain.blockSlots(chain.firstSlot, confirmed, Infinity, 'confirmed')
    for (const slot of slots) {
      const count = chain.transactionsIn(slot)
      this.#counted.confirmed += count
      if (slot <= finalized) this.#counted.finalized += count
    }
    for (const slot of slots.slice(-FEE_BLOCKS_MAX)) {
      const answer = chain.block(slot, 'confirmed')
      if (answer.kind === 'block') this.#fees.push(feesOf(answer.block))
    }
  }

  /** Follows the chain until the returned function is called. */
  follow(): () => void {
    return this.#chain.listen((event) => {
      if (event.kind === 'block' && event.commitment !== 'processed')
        this.#take(event.block, event.commitment)
    })
  }

  transactionCount(commitment: Commitment): number {
    if (commitment !== 'processed') return this.#counted[commitment]
    let count = this.#counted.confirmed
    for (let slot = this.#chain.slot('confirmed') + 1; slot <= this.#chain.slot('processed'); slot++) {
      const answer = this.#chain.block(slot, 'processed')
      if (answer.kind === 'block') count += answer.block.transactions.length
    }
    return count
  }

  /** Returns by slot the lowest fee at which a transaction that writes all of the accounts got into the block. */
  prioritizationFees(accounts: readonly Uint8Array[]): { slot: number; prioritizationFee: number }[] {
    const keys = accounts.map(pubkeyMapKey)
    return this.#fees.map(({ slot, least, byAccount }) => {
      let fee = least
      for (const key of keys) fee = Math.max(fee, byAccount.get(key) ?? 0)
      return { slot, prioritizationFee: fee }
    })
  }

  #take(block: LocalBlock, commitment: 'confirmed' | 'finalized'): void {
    this.#counted[commitment] += this.#chain.transactionsIn(block.slot)
    if (commitment !== 'confirmed') return
    this.#fees.push(feesOf(block))
    if (this.#fees.length > FEE_BLOCKS_MAX) this.#fees.shift()
  }
}

function feesOf(block: LocalBlock): BlockFees {
  let least = Infinity
  const byAccount = new Map<string, number>()
  for (const transaction of block.transactions) {
    if (transaction.isVote) continue
    const wire = wireOf(transaction)
    const price = computeUnitPrice(wire)
    least = Math.min(least, price)
    const { header, keyCount, keys } = wire
    for (let i = 0; i < keyCount; i++) {
      const end =
        i < header.signatures ? header.signatures - header.readonlySigned : keyCount - header.readonlyUnsigned
      if (i >= end) continue
      const key = pubkeyMapKey(keys.subarray(i * 32, i * 32 + 32))
      byAccount.set(key, Math.min(byAccount.get(key) ?? Infinity, price))
    }
  }
  return { slot: block.slot, least: least === Infinity ? 0 : least, byAccount }
}
