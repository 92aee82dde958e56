import { createHash } from 'node:crypto'
import { pubkeyMapKey } from '../../chain/pubkey.ts'
import type { AccountHistory } from './account-history.ts'
import type { ExecutedTransaction, LocalAccount, LocalBlock, LocalChain } from '../chain.ts'
import type { SlotWrite } from './bank-store.ts'
import { packAccounts, packBlock } from './block-records.ts'
import type { ForkKind } from './fault-plan.ts'
import { signatureKey } from './retained-blocks.ts'
import type { RetainedBlock, RetainedBlocks } from './retained-blocks.ts'
import { standsOnNonce } from './nonce.ts'
import type { ReadTransaction } from './read-transaction.ts'
import { emptyAccount } from './runtime.ts'
import type { AccountChange, Runtime } from './runtime.ts'
import type { Sent, WaitingBundle, WaitingTransactions } from './waiting-transactions.ts'

/**
 * Fills a slot with the market's actions, after the transactions of users. Takes the slot, its time in Unix seconds, a
 * function that adds a transaction to the block, and one that stores a note together with the block (null deletes it).
 * Called once per slot, even if a fork later moves its transactions to the next slot.
 */
export type FillSlot = (
  slot: number,
  blockTime: number,
  include: LocalChain['include'],
  keep: (name: string, note: Uint8Array | null) => void
) => void

/** An entry of a block, in a form that can be added to another block. */
type Entry =
  | Sent
  | {
      readonly kind: 'included'
      readonly transaction: ExecutedTransaction
      readonly accounts: readonly LocalAccount[]
    }

/** State needed to undo an unconfirmed block. */
interface Undo {
  readonly changes: readonly AccountChange[]
  readonly entries: readonly Entry[]
  /** Number of blocks that the slot had before. */
  readonly attempt: number
}

export interface MadeBlock {
  readonly retained: RetainedBlock
  readonly block: LocalBlock
  readonly accounts: readonly LocalAccount[]
  readonly packedAccounts: Uint8Array
}

export interface MadeSlot extends Pick<SlotWrite, 'dropped' | 'notes'> {
  /** In the order of reporting. */
  readonly made: readonly MadeBlock[]
}

/**
 * Maximum number of users' transactions in a block: the engine executes them in a fifth of a slot at ten times the
 * speed.
 */
const SENT_PER_BLOCK_MAX = 400
/** Maximum number of transactions added between two slots: many times a market's number per slot. */
const INCLUDED_MAX = 10_000

interface ProductionDeps {
  readonly genesisHash: Uint8Array
  readonly runtime: Runtime
  readonly blocks: RetainedBlocks
  readonly waiting: WaitingTransactions
  readonly history: AccountHistory
}

/** Produces blocks: executes waiting transactions, adds the market's, and undoes blocks for a fork. */
export class BlockProduction {
  readonly #deps: ProductionDeps
  readonly #undo = new Map<number, Undo>()
  #nextSlot: number
  #fill: FillSlot | null = null
  /** Transactions that go first into the next block: from lost blocks, and added between slots. */
  #carried: Entry[] = []
  #open: {
    readonly slot: number
    readonly entries: Entry[]
    readonly transactions: ExecutedTransaction[]
    readonly signatures: Set<string>
  } | null = null

  constructor(deps: ProductionDeps) {
    this.#deps = deps
    this.#nextSlot = deps.blocks.isEmpty ? 0 : deps.blocks.head.packed.header.slot + 1
  }

  onSlot(fill: FillSlot): void {
    this.#fill = fill
  }

  skipSlot(): void {
    this.#nextSlot++
  }

  /** Tells whether the newest block may be undone: this process produced it, and it was not reported as confirmed. */
  canFork(): boolean {
    return this.#undo.has(this.#deps.blocks.head.packed.header.slot)
  }

  /** Skips all slots before this one. Never moves back: produced slots stay. */
  skipTo(slot: number): void {
    this.#nextSlot = Math.max(this.#nextSlot, slot)
  }

  /** Produces the block of the next slot, after a fork if requested. */
  makeSlot(now: number, fork: ForkKind | null): MadeSlot {
    const made: MadeBlock[] = []
    const dropped: number[] = []
    const notes = new Map<string, Uint8Array | null>()
    const undone: AccountChange[] = []
    if (fork !== null) {
      const { slot, undo } = this.#undoHead()
      undone.push(...undo.changes)
      dropped.push(slot)
      this.#carried.unshift(...undo.entries)
      if (fork === 'replace') {
        const entries = this.#carried.splice(0, Math.ceil(undo.entries.length / 2))
        made.push(
          this.#makeBlock({ slot, now, attempt: undo.attempt + 1, entries, undone: undone.splice(0) })
        )
      }
    }
    const entries = [...this.#carried.splice(0), ...this.#deps.waiting.take(SENT_PER_BLOCK_MAX)]
    const slot = this.#nextSlot++
    made.push(this.#makeBlock({ slot, now, attempt: 0, entries, undone, notes }))
    return { made, dropped, notes }
  }

  include(transaction: ExecutedTransaction, accounts: readonly LocalAccount[]): void {
    const entry: Entry = { kind: 'included', transaction, accounts }
    if (this.#open !== null) return this.#put(entry)
    if (this.#carried.length >= INCLUDED_MAX)
      throw new RangeError(`${INCLUDED_MAX} transactions wait already`)
    this.#carried.push(entry)
  }

  /** Drops the undo state of blocks up to a slot. */
  confirmed(slot: number): void {
    for (const known of this.#undo.keys()) if (known <= slot) this.#undo.delete(known)
  }

  /** Tells whether a transaction's blockhash or nonce is valid for a block of this height. */
  mayLand({ wire }: ReadTransaction, height: number): boolean {
    const { blocks, runtime } = this.#deps
    return blocks.isValid(wire.lifetime, height) || standsOnNonce(wire, (address) => runtime.account(address))
  }

  #makeBlock(plan: {
    readonly slot: number
    readonly now: number
    readonly attempt: number
    readonly entries: readonly Entry[]
    /** Accounts that a fork restored; reported with the first block after it. */
    readonly undone: readonly AccountChange[]
    /** Collects the market's notes; absent if the market has filled the slot before. */
    readonly notes?: Map<string, Uint8Array | null>
  }): MadeBlock {
    const { runtime, blocks } = this.#deps
    const { slot, attempt } = plan
    const parent = blocks.isEmpty ? null : blocks.head.packed.header
    // A clock may be set back; block times never decrease.
    const blockTime = Math.max(parent?.blockTime ?? 0, Math.floor(plan.now / 1_000))
    runtime.beginSlot({ slot, blockTime, slotHashes: () => blocks.headers() })
    this.#open = { slot, entries: [], transactions: [], signatures: new Set() }
    const height = (parent?.blockHeight ?? -1) + 1
    for (const entry of plan.entries) this.#put(entry, height)
    if (plan.notes !== undefined) {
      const keep = plan.notes.set.bind(plan.notes)
      this.#fill?.(slot, blockTime, (transaction, accounts) => this.include(transaction, accounts), keep)
    }
    const { entries, transactions } = this.#open
    this.#open = null
    const changes = runtime.takeChanges()
    const previousBlockhash = parent?.blockhash ?? this.#deps.genesisHash
    const block: LocalBlock = {
      slot,
      parentSlot: parent?.slot ?? 0,
      blockHeight: height,
      blockhash: this.#blockhash(previousBlockhash, slot, attempt),
      previousBlockhash,
      blockTime,
      transactions
    }
    const addresses = new Set(changes.map(({ address }) => pubkeyMapKey(address)))
    const undone = plan.undone.filter(({ address }) => !addresses.has(pubkeyMapKey(address)))
    const accounts = [
      ...undone.map(({ address, before }) => before ?? emptyAccount(address)),
      ...changes.map(({ address, after }) => after ?? emptyAccount(address))
    ]
    const packedAccounts = packAccounts(accounts)
    const retained: RetainedBlock = {
      packed: packBlock(block),
      accounts: packedAccounts,
      whole: { block, accounts },
      isDurable: false
    }
    blocks.append(retained)
    this.#undo.set(slot, { changes, entries, attempt })
    this.#deps.history.add(slot, changes)
    return { retained, block, accounts, packedAccounts }
  }

  #put(entry: Entry, height = -1): void {
    const { runtime } = this.#deps
    const open = this.#open!
    if (entry.kind === 'included') {
      if (this.#isKnown(entry.transaction))
        throw new RangeError('the market has signed two transactions alike')
      for (const account of entry.accounts) runtime.put(account)
      this.#append([entry.transaction])
    } else if (entry.kind === 'sent') {
      if (this.#isKnown(entry.transaction) || !this.mayLand(entry.transaction, height)) return
      const execution = runtime.execute(entry.transaction)
      if (execution.kind === 'dropped') return
      this.#append([executed(entry.transaction, execution.meta)])
    } else if (!this.#putBundle(entry.bundle, height)) return
    open.entries.push(entry)
  }

  /** Executes the members of a bundle, and undoes all of them if one fails. */
  #putBundle({ members, onOutcome }: WaitingBundle, height: number): boolean {
    const { runtime } = this.#deps
    const done: ExecutedTransaction[] = []
    const refuse = (why: 'expired' | 'known' | 'failed', err: unknown = null): false => {
      onOutcome({ kind: 'refused', why, index: done.length, err })
      return false
    }
    const hasLanded = runtime.attempt(() => {
      for (const member of members) {
        const isRepeated = done.some(({ signature }) => Buffer.compare(signature, member.signature) === 0)
        if (isRepeated || this.#isKnown(member)) return refuse('known')
        if (!this.mayLand(member, height)) return refuse('expired')
        const execution = runtime.execute(member)
        if (execution.kind === 'dropped') return refuse('failed', execution.err)
        if (execution.meta.err !== null) return refuse('failed', execution.meta.err)
        done.push(executed(member, execution.meta))
      }
      return true
    })
    if (!hasLanded) return false
    this.#append(done)
    onOutcome({ kind: 'landed', slot: this.#open!.slot })
    return true
  }

  #isKnown({ signature }: Pick<ExecutedTransaction, 'signature'>): boolean {
    return this.#deps.blocks.has(signature) || this.#open!.signatures.has(signatureKey(signature))
  }

  #append(transactions: readonly ExecutedTransaction[]): void {
    const open = this.#open!
    open.transactions.push(...transactions)
    for (const { signature } of transactions) open.signatures.add(signatureKey(signature))
  }

  #undoHead(): { readonly slot: number; readonly undo: Undo } {
    const { slot } = this.#deps.blocks.removeHead().packed.header
    const undo = this.#undo.get(slot)!
    this.#undo.delete(slot)
    this.#deps.history.remove(slot)
    for (const { address, before } of undo.changes) this.#deps.runtime.restore(address, before)
    return { slot, undo }
  }

  #blockhash(previous: Uint8Array, slot: number, attempt: number): Uint8Array {
    const hash = createHash('sha256').update(this.#deps.genesisHash).update(previous)
    return new Uint8Array(hash.update(`${slot}/${attempt}`).digest())
  }
}

function executed(
  { signature, bytes, isVote }: ReadTransaction,
  meta: ExecutedTransaction['meta']
): ExecutedTransaction {
  return { signature, wire: bytes, isVote, meta }
}

/** Combines past slots, which drop no blocks, into one. */
export function joinedSlots(slots: readonly MadeSlot[]): MadeSlot {
  return {
    made: slots.flatMap(({ made }) => made),
    dropped: [],
    notes: new Map(slots.flatMap(({ notes }) => [...notes]))
  }
}
