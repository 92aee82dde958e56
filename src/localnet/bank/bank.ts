import { createHash } from 'node:crypto'
import { ServiceError } from '../../kernel/errors.ts'
import type { Commitment } from '../../market/rows.ts'
import { sleep, type Clock } from '../../ports.ts'
import type * as chain from '../chain.ts'
import { RETAINED_SLOTS, RETAINED_SLOTS_MIN, SLOT_MS, WAITING_MAX } from './bank-options.ts'
import type { LocalBankOptions, TimedSlot } from './bank-options.ts'
import { AccountHistory } from './account-history.ts'
import { BankStore, type ChainStore, type StoredChain } from './bank-store.ts'
import { BlockProduction, joinedSlots, type FillSlot, type MadeSlot } from './block-production.ts'
import { signerOf, type Signer } from '../../signing/ed25519.ts'
import { beginChain } from './begin-chain.ts'
import { accountsBefore } from './engine-account.ts'
import { FaultPlan, type ForkKind } from './fault-plan.ts'
import { RetainedBlocks } from './retained-blocks.ts'
import { blockTaker, resumeChain } from './resume-chain.ts'
import { Runtime } from './runtime.ts'
import { SlotCommits } from './slot-commits.ts'
import { TransactionIntake } from './transaction-intake.ts'
import { WaitingTransactions } from './waiting-transactions.ts'

/** Maximum number of overdue slots produced back to back; below the write queue's limit. */
const MADE_UP_SLOTS = 8

/**
 * A chain in this process.
 *
 * B1. A block is on disk before it is reported as confirmed.
 * B2. The disk has complete slots, so a killed process continues at its last block with the accounts of that block. Waiting
 * transactions are lost, as on a node.
 * B3. Equal seeds, times of slots and sent transactions give equal chains.
 *
 * A slot of 50 transfers costs about 5 ms. Memory: all accounts, and 2 KB per retained transaction if there is no disk.
 * Disk: see BankStore.
 */
export class LocalBank implements chain.LocalChain {
  readonly genesisHash: Uint8Array
  readonly faults = new FaultPlan()
  readonly #clock: Clock
  readonly #slotMs: number
  readonly #genesisMs: number
  readonly #commits: SlotCommits
  readonly #runtime = new Runtime()
  readonly #blocks: RetainedBlocks
  readonly #production: BlockProduction
  readonly #intake: TransactionIntake
  readonly #history = new AccountHistory()
  readonly #faucet: Signer
  readonly #listeners = new Set<(event: chain.ChainEvent) => void>()
  #end: Error | null = null

  private constructor(
    options: LocalBankOptions,
    blocks: RetainedBlocks,
    store: ChainStore | null,
    stored: StoredChain | null
  ) {
    this.#clock = options.clock
    this.#slotMs = options.slotMs ?? SLOT_MS
    this.#genesisMs = options.genesisMs ?? options.clock.now()
    this.genesisHash = sha256('genesis', options.seed)
    this.#faucet = signerOf(sha256('faucet', options.seed))
    this.#blocks = blocks
    this.#commits = new SlotCommits({
      genesisHash: this.genesisHash,
      retainedSlots: Math.max(options.retainedSlots ?? RETAINED_SLOTS, RETAINED_SLOTS_MIN),
      blocks: this.#blocks,
      store,
      settled: (event) => {
        this.#production.confirmed(event.block.slot)
        if (event.commitment === 'finalized') this.#history.finalized(event.block.slot)
        this.#tell(event)
      }
    })
    if (stored !== null)
      resumeChain(stored, { runtime: this.#runtime, blocks: this.#blocks, commits: this.#commits })
    const waiting = new WaitingTransactions(options.waitingMax ?? WAITING_MAX)
    const shared = { runtime: this.#runtime, blocks: this.#blocks, waiting, faucet: this.#faucet }
    this.#production = new BlockProduction({
      ...shared,
      genesisHash: this.genesisHash,
      history: this.#history
    })
    this.#intake = new TransactionIntake({ ...shared, production: this.#production })
  }

  /**
   * Opens the chain of a directory where it ended, or creates one with its genesis block, which is finalized. Throws a
   * ServiceError when the directory is open already, unreadable, or of another seed.
   */
  static async open(
    options: LocalBankOptions,
    openStore: (directory: string) => Promise<ChainStore> = (directory) => BankStore.open(directory)
  ): Promise<LocalBank> {
    const store = options.directory === undefined ? null : await openStore(options.directory)
    const { confirmedAfter = 1, finalizedAfter = 32 } = options
    const blocks = new RetainedBlocks({ confirmedAfter, finalizedAfter })
    try {
      const stored = store === null ? null : await store.load(blockTaker(blocks, store))
      if (stored !== null && Buffer.compare(stored.genesisHash, sha256('genesis', options.seed)) !== 0) {
        const detail = `the localnet's chain in ${options.directory} is of another seed`
        throw new ServiceError('STORAGE_UNAVAILABLE', detail)
      }
      const bank = new LocalBank(options, blocks, store, stored)
      if (stored === null) {
        const genesis = { ...options, faucet: bank.#faucet.address, timeMs: bank.#genesisMs }
        const parts = { runtime: bank.#runtime, commits: bank.#commits, production: bank.#production }
        await beginChain(genesis, { ...parts, blocks })
      }
      return bank
    } catch (error) {
      await store?.close()
      throw error
    }
  }

  get firstSlot(): number {
    return this.#blocks.firstSlot
  }

  /** Produces a slot every `slotMs` until the signal aborts; rejects when a block cannot be written. */
  async run(signal: AbortSignal): Promise<void> {
    let due = this.#clock.now() + this.#slotMs
    while (!signal.aborted) {
      await sleep(this.#clock, Math.min(Math.max(due - this.#clock.now(), 0), this.#slotMs), signal)
      if (signal.aborted) return
      await this.produceSlot()
      // Slots follow the clock on average. After a longer delay, as when the machine slept, the schedule moves.
      due = Math.max(due + this.#slotMs, this.#clock.now() - MADE_UP_SLOTS * this.#slotMs)
    }
  }

  /**
   * Produces one slot now, unless a fault prevents it. Its block is processed and reported when this returns. The
   * promise resolves when the block is durable and newly confirmed and finalized blocks were reported. After a failed
   * write, an exception of the market or a listener, or `close`, it rejects and no further slot is produced. A loop that
   * never yields to the event loop does not free the memory of the engine.
   */
  produceSlot(): Promise<void> {
    if (this.#ended !== null) return Promise.reject(this.#ended)
    if (this.faults.takeStall()) return this.#commits.written()
    if (this.faults.takeSkip()) {
      this.#production.skipSlot()
      return this.#commits.written()
    }
    if (this.#commits.refusal !== null) return Promise.reject(this.#commits.refusal)
    try {
      const fork = this.#production.canFork() ? this.faults.takeFork() : null
      return this.#commits.commit(this.#makeSlot(this.#clock.now(), fork))
    } catch (error) {
      // The slot is incomplete: the accounts are undefined, so the next start continues at the last durable block.
      this.#end = error as Error
      return Promise.reject(this.#end)
    }
  }

  /**
   * Produces past slots, ascending, and writes them at once; slots between them are skipped. Planned faults do not
   * affect them. Resolves and rejects like `produceSlot`.
   */
  producePast(slots: readonly TimedSlot[]): Promise<void> {
    const refusal = this.#ended ?? this.#commits.refusal
    if (refusal !== null) return Promise.reject(refusal)
    try {
      const made = slots.map(({ slot, timeMs }) => {
        this.#production.skipTo(slot)
        return this.#makeSlot(timeMs, null)
      })
      return this.#commits.commit(joinedSlots(made))
    } catch (error) {
      this.#end = error as Error
      return Promise.reject(this.#end)
    }
  }

  /** Skips the slots before this one; the next block is produced in it. */
  skipTo(slot: number): void {
    this.#production.skipTo(slot)
  }

  /** Returns the time of a block's slot in Unix seconds; null if the slot has no block, or the block was pruned. */
  blockTime(slot: number): number | null {
    return this.#blocks.header(slot)?.blockTime ?? null
  }

  /** Sets the market, which fills slots in addition to users. There is only one. */
  onSlot(fill: FillSlot): void {
    this.#production.onSlot(fill)
  }

  /** Returns the market's note under a name, at the newest block; null if the name has no note. */
  note(name: string): Uint8Array | null {
    return this.#commits.note(name)
  }

  /** Ends the chain once all produced blocks are on disk. */
  async close(): Promise<void> {
    this.#end ??= this.#ended ?? new ServiceError('STORAGE_UNAVAILABLE', 'the localnet is closed')
    await this.#commits.close()
  }

  slot(commitment: Commitment): number {
    return this.#blocks.headerAt(commitment).slot
  }

  blockHeight(commitment: Commitment): number {
    return this.#blocks.headerAt(commitment).blockHeight
  }

  latestBlockhash(commitment: Commitment): chain.LatestBlockhash {
    return this.#blocks.latestBlockhash(commitment)
  }

  isBlockhashValid(blockhash: Uint8Array, commitment: Commitment): boolean {
    return this.#blocks.isValid(blockhash, this.blockHeight(commitment) + 1)
  }

  block(slot: number, commitment: Commitment): chain.BlockAnswer {
    return this.#blocks.answer(slot, commitment)
  }

  transactionsIn(slot: number): number {
    return this.#blocks.transactionsIn(slot)
  }

  blockSlots(first: number, last: number, limit: number, commitment: Commitment): readonly number[] {
    return this.#blocks.slotsBetween(first, Math.min(last, this.slot(commitment)), limit)
  }

  account(address: Uint8Array, commitment: Commitment = 'processed'): chain.LocalAccount | null {
    const earlier = commitment === 'processed' ? undefined : this.#history.at(address, this.slot(commitment))
    return earlier === undefined ? this.#runtime.account(address) : earlier
  }

  accountsOf(program: Uint8Array, commitment: Commitment = 'processed'): readonly chain.LocalAccount[] {
    const changed = this.#history.changedAfter(this.slot(commitment))
    return accountsBefore(this.#runtime.accountsOf(program), changed, program)
  }

  minimumBalance(dataLength: number): bigint {
    return this.#runtime.minimumBalance(dataLength)
  }

  transaction(signature: Uint8Array): chain.FoundTransaction | null {
    return this.#blocks.transaction(signature)
  }

  signaturesOf(
    address: Uint8Array,
    page: { readonly before?: Uint8Array; readonly until?: Uint8Array; readonly limit: number }
  ): readonly chain.FoundTransaction[] {
    return this.#blocks.page(address, page)
  }

  send(bytes: Uint8Array, options: { readonly skipPreflight: boolean }): Uint8Array {
    return this.#intake.send(bytes, options)
  }

  sendBundle(
    wires: readonly Uint8Array[],
    onOutcome: (outcome: chain.BundleOutcome) => void
  ): readonly Uint8Array[] {
    return this.#intake.sendBundle(wires, onOutcome)
  }

  simulate(bytes: Uint8Array, options: chain.SimulationOptions): chain.Simulation {
    return this.#intake.simulate(bytes, options)
  }

  airdrop(to: Uint8Array, lamports: bigint): Uint8Array {
    return this.#intake.airdrop(to, lamports)
  }

  include(transaction: chain.ExecutedTransaction, accounts: readonly chain.LocalAccount[]): void {
    this.#production.include(transaction, accounts)
  }

  listen(listener: (event: chain.ChainEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The reason why no further slot is produced; null while slots are produced. */
  get #ended(): Error | null {
    return this.#end ?? this.#commits.failure
  }

  #makeSlot(nowMs: number, fork: ForkKind | null): MadeSlot {
    const slot = this.#production.makeSlot(nowMs, fork)
    for (const { block, accounts } of slot.made) {
      const root = this.#blocks.settled.finalized
      this.#tell({ kind: 'slot', slot: block.slot, parent: block.parentSlot, root })
      this.#tell({ kind: 'block', commitment: 'processed', block, accounts })
    }
    return slot
  }

  #tell(event: chain.ChainEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

function sha256(what: string, seed: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(`millrace localnet ${what} ${seed}`).digest())
}
