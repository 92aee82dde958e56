import { createHash } from 'node:crypto'
import { ServiceError } from '../../errors.ts'
import type { Commitment } from '../../market/rows.ts'
import { sleep } from '../../ports.ts'
import type { Clock } from '../../ports.ts'
import type * as chain from '../chain.ts'
import { BankStore } from './bank-store.ts'
import type { ChainStore, StoredChain } from './bank-store.ts'
import { BlockProduction } from './block-production.ts'
import type { FillSlot, MadeSlot } from './block-production.ts'
import { unpackBlock } from './block-records.ts'
import { signerOf } from './ed25519.ts'
import type { Signer } from './ed25519.ts'
import { FaultPlan } from './fault-plan.ts'
import type { ForkKind } from './fault-plan.ts'
import { KeptBlocks } from './kept-blocks.ts'
import type { KeptBlock } from './kept-blocks.ts'
import { emptyAccount, Runtime } from './runtime.ts'
import { TransactionIntake } from './transaction-intake.ts'
import { WaitingTransactions } from './waiting-transactions.ts'

export interface LocalBankOptions {
  readonly clock: Clock
  /** Genesis hash, blockhashes and the faucet's key follow from it. */
  readonly seed: string
  /** Where the chain is kept; without it, the chain ends with the process. */
  readonly directory?: string
  readonly slotMs?: number
  /** How many blocks are kept, with their transactions; at least 512: blockhashes and signatures are told from them. */
  readonly keptSlots?: number
  /** How many durable blocks on top make a block confirmed; fewer than those that make it finalized. */
  readonly confirmedAfter?: number
  readonly finalizedAfter?: number
  /** How many sent transactions may wait for a block; the next one is refused. */
  readonly waitingMax?: number
  readonly faucetLamports?: bigint
  /** The time of a new chain's genesis block, Unix milliseconds; the clock's where none is given. */
  readonly genesisMs?: number
}

/** A slot that is made at another time than its own. */
export interface TimedSlot {
  readonly slot: number
  /** Unix milliseconds. */
  readonly timeMs: number
}

const SLOT_MS = 400
/** So many slots that are late come one after another: fewer than there may be on their way to the disk. */
const MADE_UP_SLOTS = 8
/** Ten minutes at the usual pace; blocks and not minutes, so that memory and disk are the same at any pace. */
const KEPT_SLOTS = 1_500
const KEPT_SLOTS_MIN = 512
const WAITING_MAX = 1_000
const FAUCET_LAMPORTS = 500_000_000_000_000_000n
/** Chosen: a slot that is asked for while so many before it are not on disk is refused. */
const WRITES_PENDING_MAX = 16

/**
 * A chain in this process. B1: a block is on disk before anybody is told that it is confirmed. B2: what is on disk is
 * whole slots, so that a killed process goes on at its last block with the accounts that it left; transactions that
 * waited are lost, as on a node. B3: given the seed, the times of slots and what is sent, everything repeats.
 *
 * A slot of 50 transfers costs some 5 ms. Memory: 2 KB a kept transaction and all accounts. Disk: see BankStore.
 */
export class LocalBank implements chain.LocalChain {
  readonly genesisHash: Uint8Array
  readonly faults = new FaultPlan()
  readonly #clock: Clock
  readonly #slotMs: number
  readonly #keptSlots: number
  readonly #genesisMs: number
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
  #writing: Promise<void> = Promise.resolve()
  #writesPending = 0
  #end: Error | null = null

  private constructor(options: LocalBankOptions, store: ChainStore | null, stored: StoredChain | null) {
    this.#clock = options.clock
    this.#slotMs = options.slotMs ?? SLOT_MS
    this.#keptSlots = Math.max(options.keptSlots ?? KEPT_SLOTS, KEPT_SLOTS_MIN)
    this.#genesisMs = options.genesisMs ?? options.clock.now()
    this.#store = store
    this.genesisHash = sha256('genesis', options.seed)
    this.#faucet = signerOf(sha256('faucet', options.seed))
    const { confirmedAfter = 1, finalizedAfter = 32 } = options
    this.#blocks = new KeptBlocks({ confirmedAfter, finalizedAfter })
    if (stored !== null) this.#resume(stored)
    const waiting = new WaitingTransactions(options.waitingMax ?? WAITING_MAX)
    const parts = { runtime: this.#runtime, blocks: this.#blocks, waiting, faucet: this.#faucet }
    this.#production = new BlockProduction({ ...parts, genesisHash: this.genesisHash })
    this.#intake = new TransactionIntake({ ...parts, production: this.#production })
  }

  /**
   * Opens the chain of a directory where it was left, or makes a new one with its genesis block, which is finalized.
   * Throws a ServiceError where the directory is open already, unreadable, or of another seed.
   */
  static async open(
    options: LocalBankOptions,
    openStore: (directory: string) => Promise<ChainStore> = (directory) => BankStore.open(directory)
  ): Promise<LocalBank> {
    const store = options.directory === undefined ? null : await openStore(options.directory)
    try {
      const stored = (await store?.load()) ?? null
      if (stored !== null && Buffer.compare(stored.genesisHash, sha256('genesis', options.seed)) !== 0) {
        const detail = `the localnet's chain in ${options.directory} is of another seed`
        throw new ServiceError('STORAGE_UNAVAILABLE', detail)
      }
      const bank = new LocalBank(options, store, stored)
      if (stored === null) await bank.#makeGenesis(options.faucetLamports ?? FAUCET_LAMPORTS)
      return bank
    } catch (error) {
      await store?.close()
      throw error
    }
  }

  get firstSlot(): number {
    return this.#blocks.firstSlot
  }

  /** Begins a slot every `slotMs` until the signal aborts; rejects where a block cannot be written. */
  async run(signal: AbortSignal): Promise<void> {
    let due = this.#clock.now() + this.#slotMs
    while (!signal.aborted) {
      await sleep(this.#clock, Math.min(Math.max(due - this.#clock.now(), 0), this.#slotMs), signal)
      if (signal.aborted) return
      await this.produceSlot()
      // Slots keep to the clock on average; one that is later still, of a machine that slept, moves those after it.
      due = Math.max(due + this.#slotMs, this.#clock.now() - MADE_UP_SLOTS * this.#slotMs)
    }
  }

  /**
   * Makes one slot now, unless a fault stops it. Its block is processed, and told so, when this returns; the promise
   * resolves when it is durable and what is settled by it was told. Rejects, and makes no further slot, after a write failed or
   * the market or a listener threw; and when closed.
   * In a loop that never lets the event loop turn, memory that the engine hands out is not freed.
   */
  produceSlot(): Promise<void> {
    if (this.#end !== null) return Promise.reject(this.#end)
    if (this.faults.takeStall()) return this.#writing
    if (this.faults.takeSkip()) {
      this.#production.skipSlot()
      return this.#writing
    }
    if (this.#writesPending >= WRITES_PENDING_MAX) return Promise.reject(new Error('the disk is too slow'))
    try {
      const fork = this.#production.canFork() ? this.faults.takeFork() : null
      return this.#commit(this.#makeSlot(this.#clock.now(), fork))
    } catch (error) {
      // Half a slot: nobody knows what the accounts are, and the next start goes on at the last durable block.
      this.#end = error as Error
      return Promise.reject(this.#end)
    }
  }

  /**
   * Makes slots of a past, ascending, and puts them on disk in one write; slots between them are skipped. No fault of the
   * plan happens to them. Resolves and rejects as `produceSlot` does.
   */
  producePast(slots: readonly TimedSlot[]): Promise<void> {
    if (this.#end !== null) return Promise.reject(this.#end)
    if (this.#writesPending >= WRITES_PENDING_MAX) return Promise.reject(new Error('the disk is too slow'))
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

  /** Skips the slots up to this one; the next block is made in it. */
  skipTo(slot: number): void {
    this.#production.skipTo(slot)
  }

  /** The time of a block's slot, Unix seconds; null where there is no such block, or it is no longer kept. */
  blockTime(slot: number): number | null {
    return this.#blocks.header(slot)?.blockTime ?? null
  }

  /** Who fills slots beside users: one market. */
  onSlot(fill: FillSlot): void {
    this.#production.onSlot(fill)
  }

  /** What the market kept under a name, as of the newest block; null where there is none. */
  note(name: string): Uint8Array | null {
    return this.#notes.get(name) ?? null
  }

  /** Ends the chain once what was made is on disk. */
  async close(): Promise<void> {
    this.#end ??= new ServiceError('STORAGE_UNAVAILABLE', 'the localnet is closed')
    await this.#writing.catch(() => undefined)
    await this.#store?.close()
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

  blockSlots(first: number, last: number, limit: number, commitment: Commitment): readonly number[] {
    return this.#blocks.slotsBetween(first, Math.min(last, this.slot(commitment)), limit)
  }

  account(address: Uint8Array): chain.LocalAccount | null {
    return this.#runtime.account(address)
  }

  accountsOf(program: Uint8Array): readonly chain.LocalAccount[] {
    return this.#runtime.accountsOf(program)
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
    if (this.#store === null) {
      this.#settle(slot.made)
      return Promise.resolve()
    }
    const store = this.#store
    const write = {
      ...slot,
      genesisHash: this.genesisHash,
      blocks: slot.made.map(({ kept, accounts }) => ({ packed: kept.packed, accounts })),
      dropped: [...slot.dropped, ...pruned],
      finalized: this.#finalized.splice(0),
      firstSlot: this.#blocks.firstSlot,
      settled
    }
    this.#writesPending++
    this.#writing = this.#writing.then(async () => {
      try {
        await store.write(write)
      } catch (cause) {
        this.#end ??= new ServiceError('STORAGE_UNAVAILABLE', 'the localnet cannot write its chain', {
          cause
        })
        throw this.#end
      }
      this.#writesPending--
      this.#settle(slot.made)
    })
    return this.#writing
  }

  /** These are durable now (B1): tells of what is settled by it. */
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
  }

  async #makeGenesis(lamports: bigint): Promise<void> {
    this.#runtime.put({ ...emptyAccount(this.#faucet.address), lamports })
    const slot = this.#production.makeSlot(this.#genesisMs, null)
    this.#blocks.resume(0, { confirmed: 0, finalized: 0 })
    for (const { kept } of slot.made) this.#finalize(kept)
    this.#production.confirmed(0)
    await this.#commit(slot)
  }

  #resume(stored: StoredChain): void {
    // Programs that users deployed come after what holds their code.
    for (const isProgram of [false, true]) {
      for (const account of stored.accounts) {
        if (account.executable === isProgram) this.#runtime.restore(account.address, account)
      }
    }
    for (const { packed, accounts } of stored.blocks) {
      const whole = accounts === null ? null : { block: unpackBlock(packed), accounts }
      this.#blocks.append({ packed, whole, isDurable: true })
    }
    this.#blocks.resume(stored.firstSlot, stored.settled)
    // Told before the process ended, or told by nobody: who listens from now on reads it by slot.
    for (const { commitment, kept } of this.#blocks.settle()) {
      if (commitment === 'finalized') this.#finalize(kept)
    }
    for (const [name, note] of stored.notes) this.#notes.set(name, note)
    const { slot, blockTime } = this.#blocks.head.packed.header
    this.#runtime.beginSlot({ slot, blockTime, slotHashes: () => this.#blocks.headers() })
  }
}

function sha256(what: string, seed: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(`millrace localnet ${what} ${seed}`).digest())
}
