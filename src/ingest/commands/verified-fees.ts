import { RpcAccountNode } from '../../accounts/node-client.ts'
import { TransferFees } from '../../accounts/transfer-fees.ts'
import { decodeTransactions } from '../../chain/decode-block.ts'
import type { Block } from '../../chain/transaction.ts'
import type { TransferFeeLookup } from '../../chain/transfer-fee.ts'
import type { Clock } from '../../ports.ts'

/** The transfer fees with which a block is decoded again. */
export interface BlockFees {
  readonly feeOf: TransferFeeLookup | null
  /** Whether a transaction still lacks a fee: a stored block may have been decoded with that fee. */
  readonly isOpen: boolean
}

/** Reads the transfer fees that blocks need from nodes, like ingest. If no node is set, no fee is known. */
export class VerifiedFees {
  readonly #fees: TransferFees
  readonly #node: RpcAccountNode | null

  constructor(urls: readonly string[], clock: Clock) {
    this.#fees = new TransferFees(clock)
    this.#node = urls.length === 0 ? null : new RpcAccountNode(() => urls, clock)
    this.#fees.connect(this.#node)
  }

  /** Returns the fees for a block. Never rejects. */
  async of({ slot, transactions }: Pick<Block, 'slot' | 'transactions'>): Promise<BlockFees> {
    const open = () => decodeTransactions(transactions, 0, this.#fees.at(slot)).openFees
    const lacking = open().flatMap(({ mints }) => mints)
    if (lacking.length === 0) return { feeOf: this.#fees.at(slot), isOpen: false }
    await this.#fees.load(lacking, slot)
    return { feeOf: this.#fees.at(slot), isOpen: open().length > 0 }
  }

  async close(): Promise<void> {
    await this.#node?.close()
  }
}
