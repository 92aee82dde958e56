import { createHash } from 'node:crypto'
import { ServiceError } from '../../errors.ts'
import { pubkeyMapKey, samePubkey } from '../../chain/pubkey.ts'
import type { Commitment } from '../../market/rows.ts'
import { sleep } from '../../ports.ts'
import type { Clock } from '../../ports.ts'
import type * as chain from '../chain.ts'
import { BankStore } from './bank-store.ts'
import type { ChainStore, StoredChain, TakeBlock } from './bank-store.ts'
import { BlockProduction } from './block-production.ts'
import type { FillSlot, MadeSlot } from './block-production.ts'
import { blockOnDisk, unpackBlock } from './block-records.ts'
import { signerOf } from '../../signing/ed25519.ts'
import type { Signer } from '../../signing/ed25519.ts'
import { FaultPlan } from './fault-plan.ts'
import type { ForkKind } from './fault-plan.ts'
import { KeptBlocks } from './kept-blocks.ts'
import type { KeptBlock } from './kept-blocks.ts'
import { emptyAccount, Runtime } from './runtime.ts'
import { TransactionIntake } from './transaction-intake.ts'
import { WaitingTransactions } from './waiting-transactions.ts'
import { WriteQueue } from './write-queue.ts'

export interface LocalBankOptions {
  readonly clock: Clock
  /** Determines genesis hash, blockhashes and the faucet's key. */
  readonly seed: string
  /** Directory of the chain; without it, the chain ends with the process. */
  readonly directory?: string
  readonly slotMs?: number
  /**
   * Number of slots whose blocks are kept, with their transactions; at least 512, because blockhashes and signatures
   * are looked up in them.
   */
  readonly keptSlots?: number
  /** Number of durable blocks on top that make a block confirmed; less than the number for finalized. */
  readonly confirmedAfter?: number
  readonly finalizedAfter?: number
  /** Maximum number of sent transactions waiting for a block; further ones are refused. */
  readonly waitingMax?: number
  readonly faucetLamports?: bigint
  /** Addresses that have their rent-exempt minimum in the genesis of a new chain. */
  readonly genesisAccounts?: readonly Uint8Array[]
  /** Time of a new chain's genesis block, Unix milliseconds; the clock's by default. */
  readonly genesisMs?: number
}

/** A slot produced at another time than its own. */
export interface TimedSlot {
  readonly slot: number
  /** Unix milliseconds. */
  readonly timeMs: number
}

const SLOT_MS = 400
/** Maximum number of overdue slots produced back to back; below the write queue's limit. */
const MADE_UP_SLOTS = 8
/** Ten minutes at the usual pace. Counted in blocks, so that memory and disk are the same at any pace. */
const KEPT_SLOTS = 1_500
const KEPT_SLOTS_MIN = 512
const WAITING_MAX = 1_000
const FAUCET_LAMPORTS = 500_000_000_000_000_000n
/**
 * A chain in this process.
 *
 * B1. A block is on disk before it is reported as confirmed.
 * B2. The disk has whole slots, so a killed process continues at its last block with the accounts of that block.
 * Waiting
 * transactions are lost, as on a node.
 * B3. The same seed, times of slots and sent transactions give the same chain.
 *
 * A slot of 50 transfers costs some 5 ms. Memory: all accounts; 2 KB a kept transaction where there is no disk. Disk: see
 * BankStore.
 */
export class LocalBank implements chain.LocalChain {
  readonly genesisHash: Uint8Array
  readonly faults = new FaultPlan()
  readonly #clock: Clock
  readonly #slotMs: number
  readonly #keptSlots: number
  readonly #genesisMs: number
  /** Null for a chain without a directory. */
  readonly #writes: WriteQueue | null
  readonly #store: ChainStore | null
  readonly #runtime = new Runtime()
  readonly #blocks: KeptBlocks
  readonly #production: BlockProduction
  readonly #intake: TransactionIntake
  readonly #faucet: Signer
  readonly #listeners = new Set<(event: chain.ChainEvent) => void>()
  readonly #notes = new Map<string, Uint8Array>()
  /** Slots finalized since the last write. */
  #finalized: number[] = []
  #end: Error | null = null

  private constructor(
    options: LocalBankOptions,
    blocks: KeptBlocks,
    store: ChainStore | null,
    stored: StoredChain | null
  ) {
    this.#clock = options.clock
    this.#slotMs = options.slotMs ?? SLOT_MS
    this.#keptSlots = Math.max(options.keptSlots ?? KEPT_SLOTS, KEPT_SLOTS_MIN)
    this.#genesisMs = options.genesisMs ?? options.clock.now()
    this.#store = store
    this.#writes = store === null ? null : new WriteQueue(store)
    this.genesisHash = sha256('genesis', options.seed)
    this.#faucet = signerOf(sha256('faucet', options.seed))
    this.#blocks = blocks
    if (stored !== null) this.#resume(stored)
    const waiting = new WaitingTransactions(options.waitingMax ?? WAITING_MAX)
    const shared = { runtime: this.#runtime, blocks: this.#blocks, waiting, faucet: this.#faucet }
    this.#production = new BlockProduction({ ...shared, genesisHash: this.genesisHash })
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
    const blocks = new KeptBlocks({ confirmedAfter, finalizedAfter })
    try {
      const take: TakeBlock = (packed, accounts) => {
        const whole = accounts === null ? null : { block: unpackBlock(packed), accounts }
        const kept = { packed, whole, isDurable: true }
        blocks.append(kept)
        if (whole === null) release(kept, store!)
      }
      const stored = (await store?.load(take)) ?? null
      if (stored !== null && Buffer.compare(stored.genesisHash, sha256('genesis', options.seed)) !== 0) {
        const detail = `the localnet's chain in ${options.directory} is of another seed`
        throw new ServiceError('STORAGE_UNAVAILABLE', detail)
      }
      const bank = new LocalBank(options, blocks, store, stored)
      if (stored === null) await bank.#makeGenesis(options)
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
      // Slots keep to the clock on average. After a longer delay, as when the machine slept, the schedule moves.
      due = Math.max(due + this.#slotMs, this.#clock.now() - MADE_UP_SLOTS * this.#slotMs)
    }
  }

  /**
   * Produces one slot now, unless a fault prevents it. Its block is processed and reported when this returns. The
   * promise resolves when the block is durable and newly confirmed and finalized blocks were reported. After a failed
   * write, an exception of the market or a listener, or `close`, it rejects and no further slot is produced. In a loop
   * that never yields to the event loop, memory of the engine is not freed.
   */
  produceSlot(): Promise<void> {
    if (this.#ended !== null) return Promise.reject(this.#ended)
    if (this.faults.takeStall()) return this.#written
    if (this.faults.takeSkip()) {
      this.#production.skipSlot()
      return this.#written
    }
    if (this.#writes?.isFull === true) return Promise.reject(new Error('the disk is too slow'))
    try {
      const fork = this.#production.canFork() ? this.faults.takeFork() : null
      return this.#commit(this.#makeSlot(this.#clock.now(), fork))
    } catch (error) {
      // Half a slot: the accounts are undefined, so the next start continues at the last durable block.
      this.#end = error as Error
      return Promise.reject(this.#end)
    }
  }

  /**
   * Produces past slots, ascending, and writes them at once; slots between them are skipped. Planned faults do not
   * affect them. Resolves and rejects like `produceSlot`.
   */
  producePast(slots: readonly TimedSlot[]): Promise<void> {
    if (this.#ended !== null) return Promise.reject(this.#ended)
    if (this.#writes?.isFull === true) return Promise.reject(new Error('the disk is too slow'))
    try {
      const made = slots.map(({ slot, timeMs }) => {
        this.#production.skipTo(slot)
        return this.#makeSlot(timeMs, null)
      })
      return this.#commit({
        made: made.flatMap((each) => each.made),
        dropped: [],
        notes: new Map(made.flatMap(({ notes }) => [...notes]))
      })
    } catch (error) {
      this.#end = error as Error
      return Promise.reject(this.#end)
    }
  }

  /** Skips the slots before this one; the next block is produced in it. */
  skipTo(slot: number): void {
    this.#production.skipTo(slot)
  }

  /** Returns the time of a block's slot in Unix seconds; null where there is no such block, or it is no longer kept. */
  blockTime(slot: number): number | null {
    return this.#blocks.header(slot)?.blockTime ?? null
  }

  /** Sets the market, which fills slots besides users; there is one. */
  onSlot(fill: FillSlot): void {
    this.#production.onSlot(fill)
  }

  /** Returns the market's note under a name, as of the newest block; null where there is none. */
  note(name: string): Uint8Array | null {
    return this.#notes.get(name) ?? null
  }

  /** Ends the chain once all produced blocks are on disk. */
  async close(): Promise<void> {
    this.#end ??= this.#ended ?? new ServiceError('STORAGE_UNAVAILABLE', 'the localnet is closed')
    await this.#writes?.close()
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

  account(address: Uint8Array): chain.LocalAccount | null {
    return this.#runtime.account(address)
  }

  accountsOf(program: Uint8Array, commitment?: Commitment): readonly chain.LocalAccount[] {
    const newest = this.#runtime.accountsOf(program)
    if (commitment !== 'confirmed') return newest
    const before = this.#production.beforeUnconfirmed()
    const unchanged = newest.filter(({ address }) => !before.has(pubkeyMapKey(address)))
    const changed = [...before.values()].filter(
      (account) => account !== null && samePubkey(account.owner, program)
    )
    return [...unchanged, ...(changed as chain.LocalAccount[])]
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

  /** The reason why no further slot is produced; null while there is none. */
  get #ended(): Error | null {
    return this.#end ?? this.#writes?.failure ?? null
  }

  get #written(): Promise<void> {
    return this.#writes?.flush() ?? Promise.resolve()
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

  #commit(slot: MadeSlot): Promise<void> {
    for (const [name, note] of slot.notes) {
      if (note === null) this.#notes.delete(name)
      else this.#notes.set(name, note)
    }
    const { settled } = this.#blocks
    const firstSlot = Math.min(this.#blocks.slotFromEnd(this.#keptSlots), settled.finalized)
    const pruned = this.#blocks.prune(Math.max(firstSlot, 0))
    if (this.#writes === null) {
      this.#settle(slot.made)
      return Promise.resolve()
    }
    const write = {
      ...slot,
      genesisHash: this.genesisHash,
      blocks: slot.made.map(({ kept, accounts }) => ({ packed: kept.packed, accounts })),
      dropped: [...slot.dropped, ...pruned],
      finalized: this.#finalized.splice(0),
      firstSlot: this.#blocks.firstSlot,
      settled
    }
    return this.#writes.write(write, () => this.#settle(slot.made))
  }

  /** Marks blocks as durable (B1) and reports the blocks that this settles. */
  #settle(made: MadeSlot['made']): void {
    for (const { kept } of made) kept.isDurable = true
    for (const { commitment, kept } of this.#blocks.settle()) {
      const { block, accounts } = kept.whole!
      this.#production.confirmed(block.slot)
      this.#tell({ kind: 'block', commitment, block, accounts })
      if (commitment === 'finalized') this.#finalize(kept)
    }
  }

  #finalize(kept: KeptBlock): void {
    kept.whole = null
    this.#finalized.push(kept.packed.header.slot)
    // The genesis block is written later.
    if (kept.isDurable && this.#store !== null) release(kept, this.#store)
  }

  async #makeGenesis(options: LocalBankOptions): Promise<void> {
    const { faucetLamports = FAUCET_LAMPORTS, genesisAccounts = [] } = options
    this.#runtime.put({ ...emptyAccount(this.#faucet.address), lamports: faucetLamports })
    const lamports = this.minimumBalance(0)
    for (const address of genesisAccounts) this.#runtime.put({ ...emptyAccount(address), lamports })
    const slot = this.#production.makeSlot(this.#genesisMs, null)
    this.#blocks.resume(0, { confirmed: 0, finalized: 0 })
    for (const { kept } of slot.made) this.#finalize(kept)
    this.#production.confirmed(0)
    await this.#commit(slot)
  }

  #resume(stored: StoredChain): void {
    // Deployed programs are restored after the accounts that hold their code.
    for (const isProgram of [false, true]) {
      for (const account of stored.accounts) {
        if (account.executable === isProgram) this.#runtime.restore(account.address, account)
      }
    }
    this.#blocks.resume(stored.firstSlot, stored.settled)
    // These were reported before the process ended, or have no listener; listeners read older blocks by slot.
    for (const { commitment, kept } of this.#blocks.settle()) {
      if (commitment === 'finalized') this.#finalize(kept)
    }
    for (const [name, note] of stored.notes) this.#notes.set(name, note)
    const { slot, blockTime } = this.#blocks.head.packed.header
    this.#runtime.beginSlot({ slot, blockTime, slotHashes: () => this.#blocks.headers() })
  }
}

/** Has the bytes of a block on disk read when they are needed. */
function release(kept: KeptBlock, store: ChainStore): void {
  kept.packed = blockOnDisk(kept.packed, (slot) => store.block(slot))
}

function sha256(what: string, seed: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(`millrace localnet ${what} ${seed}`).digest())
}
