import { PubkeyTable } from '../../chain/pubkey.ts'
import type { Block } from '../../chain/transaction.ts'
import { readRecorded } from '../../recorded/read.ts'
import { scanRecorded } from '../../recorded/scan.ts'
import { ledgerChanges } from '../ledger-changes.ts'
import type { LedgerChange } from '../ledger-entry.ts'
import type { SlotRange } from '../slot-ranges.ts'

/** A block's changes of an address, as rows for an import. */
export interface RecordedRows {
  readonly slot: number
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

/** Reads the rows of an address from a folder of recorded blocks, ascending, and the slots that it has without a gap. */
export class RecordedLedger {
  readonly #directory: string
  readonly #address: string
  readonly #ranges: { from: number; to: number }[] = []

  constructor(directory: string, address: string) {
    this.#directory = directory
    this.#address = address
  }

  /** The slots of blocks that follow each other by their parents; complete after `read`. */
  get ranges(): readonly SlotRange[] {
    return this.#ranges
  }

  async *read(signal: AbortSignal): AsyncGenerator<RecordedRows> {
    const index = await scanRecorded(this.#directory, { signal })
    signal.throwIfAborted()
    if (index.kind !== 'indexed') throw new Error('the folder has no recorded block that can be read')
    const watched = new PubkeyTable([[this.#address, this.#address]])
    for await (const block of readRecorded(index)) {
      signal.throwIfAborted()
      this.#cover(block)
      const changes = ledgerChanges(block, watched).get(this.#address) ?? []
      if (changes.length > 0) yield { slot: block.slot, rows: changes.map((change) => rowOf(change, block)) }
    }
  }

  #cover({ slot, parentSlot }: Block): void {
    const last = this.#ranges.at(-1)
    if (last !== undefined && parentSlot === last.to) last.to = slot
    else this.#ranges.push({ from: parentSlot === null ? slot : parentSlot + 1, to: slot })
  }
}

const rowOf = (change: LedgerChange, { slot, blockTime }: Block): Readonly<Record<string, unknown>> => ({
  slot,
  tx_index: change.txIndex,
  index: change.index,
  ts_ms: blockTime * 1_000,
  signature: change.signature,
  account: change.account,
  mint: change.mint,
  is_native: change.isNative,
  decimals: change.decimals,
  pre_raw: change.pre.toString(),
  post_raw: change.post.toString(),
  kind: change.kind,
  counterparty: change.counterparty,
  counterparty_confidence: change.confidence,
  fee_lamports: Number(change.feeLamports),
  fee_payer: change.feePayer,
  ix_index: change.ixIndex
})
