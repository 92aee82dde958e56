import { Account, FailedTransactionMetadata, LiteSvm } from 'litesvm/dist/internal.js'
import type { TransactionMetadata } from 'litesvm/dist/internal.js'
import { pubkeyMapKey, samePubkey } from '../../chain/pubkey.ts'
import { SecondChanceCache } from '../../kernel/memory/second-chance-cache.ts'
import type { ExecutionMeta, LocalAccount, Simulation, SimulationOptions } from '../chain.ts'
import { accountKeysOf } from './account-keys.ts'
import type { AccountKeys } from './account-keys.ts'
import { isSameAccount, localAccount } from './engine-account.ts'
import { outcomeOf } from './execution-outcome.ts'
import { feeOf } from './fees.ts'
import { SLOT_HASHES_SYSVAR, SYSTEM, SYSVAR_OWNER } from '../programs.ts'
import { isTokenProgram } from './programs.ts'
import type { ReadTransaction } from './read-transaction.ts'
import { tokenBalancesOf } from './token-balances.ts'
import { transactionError } from './transaction-error.ts'

/** An account before and after a block. */
export interface AccountChange {
  readonly address: Uint8Array
  readonly before: LocalAccount | null
  readonly after: LocalAccount | null
}

/** Earlier states of accounts, by their keys in maps. */
type AccountsBefore = Map<string, Pick<AccountChange, 'address' | 'before'>>

/** The result of executing. A transaction that cannot pay, or whose accounts cannot be loaded, is in no block. */
export type Execution =
  | { readonly kind: 'landed'; readonly meta: ExecutionMeta }
  | { readonly kind: 'dropped'; readonly err: unknown }

/** The slot being executed, as sysvars report it. */
export interface SlotState {
  readonly slot: number
  readonly blockTime: number
  /** Iterates the blocks, newest first; only those before the slot count. */
  readonly slotHashes: () => Iterator<{ readonly slot: number; readonly blockhash: Uint8Array }>
}

const SLOTS_PER_EPOCH = 432_000n
const SLOT_HASHES_MAX = 512
/** Value for an account that pays no rent. */
const RENT_EPOCH = 2n ** 64n - 1n
/**
 * Limits the cache of accounts, in bytes. A read of the engine takes 10 µs, and its memory is freed late; 8 MiB hold the
 * hot accounts.
 */
const RECENT_BYTES_MAX = 8 * 2 ** 20
const RECENT_ENTRY_BYTES = 300
/** Loading errors for which a fee is charged nevertheless (SIMD-0082). */
const FEE_ONLY = ['ProgramAccountNotFound', 'InvalidProgramForExecution', 'MaxLoadedAccountsDataSizeExceeded']

/**
 * Accounts and programs, executed by litesvm, with the changes of each block. The bank checks signatures, blockhashes
 * and duplicates; the engine takes only transactions that `readTransaction` accepted.
 */
export class Runtime {
  readonly #svm = new LiteSvm()
  readonly #recent = new SecondChanceCache<LocalAccount | null>(RECENT_BYTES_MAX)
  #changes: AccountsBefore = new Map()
  /** States of accounts before the running attempt; null if none runs. */
  #attempted: AccountsBefore | null = null
  /** Set until the first program runs, which then writes the sysvars that only programs read. */
  #slotHashes: SlotState['slotHashes'] | null = null

  constructor() {
    this.#svm.setSigverify(false)
    this.#svm.setBlockhashCheck(false)
    this.#svm.setTransactionHistory(0n)
    this.#svm.withNativeMints()
  }

  beginSlot({ slot, blockTime, slotHashes }: SlotState): void {
    const clock = this.#svm.getClock()
    clock.slot = BigInt(slot)
    clock.epoch = BigInt(slot) / SLOTS_PER_EPOCH
    clock.leaderScheduleEpoch = clock.epoch + 1n
    clock.unixTimestamp = BigInt(blockTime)
    this.#svm.setClock(clock)
    // Nonces advance once per block.
    this.#svm.expireBlockhash()
    this.#slotHashes = () => Iterator.from(slotHashes()).filter((before) => before.slot < slot)
  }

  account(address: Uint8Array): LocalAccount | null {
    const key = pubkeyMapKey(address)
    const recent = this.#recent.get(key)
    if (recent !== undefined) return recent
    if (samePubkey(address, SLOT_HASHES_SYSVAR)) this.#writeSlotHashes()
    const found = this.#svm.getAccount(address)
    const account = found === null || found.lamports() === 0n ? null : localAccount(address, found)
    // Not cached: the engine itself writes sysvars.
    if (account === null || !samePubkey(account.owner, SYSVAR_OWNER)) this.#keepRecent(key, account)
    return account
  }

  /** Returns a program's accounts. Scans all accounts at 2 µs each. */
  accountsOf(program: Uint8Array): LocalAccount[] {
    return this.#svm
      .getProgramAccounts(program)
      .map((found) => localAccount(found.address, found.account()))
      .filter(({ lamports }) => lamports > 0n)
  }

  minimumBalance(dataLength: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(dataLength))
  }

  /** Sets an account; an account without lamports is deleted. */
  put(account: LocalAccount): void {
    this.#remember(account.address)
    this.#write(account)
  }

  /** Sets an account outside any block: while a chain is loaded, or a fork undone. */
  restore(address: Uint8Array, account: LocalAccount | null): void {
    this.#write(account ?? emptyAccount(address))
  }

  /** Returns the changes since the last call, in the order of first changes. */
  takeChanges(): AccountChange[] {
    const changes: AccountChange[] = []
    for (const { address, before } of this.#changes.values()) {
      const after = this.account(address)
      if (!isSameAccount(before, after)) changes.push({ address, before, after })
    }
    this.#changes = new Map()
    return changes
  }

  /** Runs a function that executes transactions, and undoes their changes if it returns false or throws. */
  attempt(run: () => boolean): boolean {
    const attempted: AccountsBefore = new Map()
    this.#attempted = attempted
    let isAccepted = false
    try {
      isAccepted = run()
    } finally {
      this.#attempted = null
      if (!isAccepted) for (const { address, before } of attempted.values()) this.restore(address, before)
    }
    return isAccepted
  }

  execute(transaction: ReadTransaction): Execution {
    this.#writeSlotHashes()
    const { wire, bytes } = transaction
    const keys = accountKeysOf(wire, (address) => this.account(address))
    if (keys === null) return { kind: 'dropped', err: this.#simulated(bytes).err }
    const before = keys.all.map((address) => this.#lamports(address))
    const loaded = this.#load(transaction, keys)
    const tokensBefore = this.#tokenBalances(keys, loaded)
    const result = this.#svm.sendVersionedTransaction(bytes)
    const failed = result instanceof FailedTransactionMetadata
    const err = failed ? this.#explain(transaction, keys, transactionError(result)) : null
    const fee = feeOf(wire)
    if (failed && this.#lamports(keys.all[0]!) === before[0]) {
      if (!this.#takesFeeOnly(err, before[0], fee)) return { kind: 'dropped', err }
      this.#write({ ...loaded[0]!, lamports: before[0] - fee })
    }
    for (const [index, account] of loaded.entries()) {
      if (!keys.isWritable(index)) continue
      this.#rememberAs(keys.all[index]!, account)
      this.#recent.delete(pubkeyMapKey(keys.all[index]!))
    }
    const outcome = failed ? result.meta() : result
    const meta: ExecutionMeta = {
      err,
      fee,
      ...outcomeOf(outcome),
      preBalances: before,
      postBalances: keys.all.map((address) => this.#lamports(address)),
      preTokenBalances: tokensBefore,
      postTokenBalances: this.#tokenBalances(keys, this.#load(transaction, keys)),
      loadedWritable: keys.loadedWritable,
      loadedReadonly: keys.loadedReadonly
    }
    return { kind: 'landed', meta }
  }

  /** Executes on the current state, for the next block, without changing it. */
  simulate(
    { bytes, wire }: ReadTransaction,
    requested: SimulationOptions['accounts']
  ): Omit<Simulation, 'replacement'> {
    this.#writeSlotHashes()
    const simulated = this.#simulated(bytes)
    const keys = accountKeysOf(wire, (address) => this.account(address))
    const err = keys === null ? simulated.err : this.#explain({ wire }, keys, simulated.err)
    const isLoaded = (address: Uint8Array): boolean =>
      keys?.all.some((key) => samePubkey(key, address)) ?? false
    const accounts = requested.map((address) => {
      if (err !== null || !isLoaded(address)) return null
      const after = simulated.accounts.find((account) => samePubkey(account.address, address))
      return after === undefined ? this.account(address) : after.lamports === 0n ? null : after
    })
    return { err, ...outcomeOf(simulated.outcome), accounts }
  }

  #simulated(bytes: Uint8Array): { err: unknown; outcome: TransactionMetadata; accounts: LocalAccount[] } {
    const result = this.#svm.simulateVersionedTransaction(bytes)
    if (result instanceof FailedTransactionMetadata) {
      return { err: transactionError(result), outcome: result.meta(), accounts: [] }
    }
    const accounts = result.postAccounts().map((found) => localAccount(found.address, found.account()))
    return { err: null, outcome: result.meta(), accounts }
  }

  /** Corrects an error: the engine reports a missing program as a node reports an account that is not a program. */
  #explain({ wire }: Pick<ReadTransaction, 'wire'>, keys: AccountKeys, err: unknown): unknown {
    if (err !== 'InvalidProgramForExecution') return err
    const isMissing = wire.instructions.some(({ program }) => this.account(keys.all[program]!) === null)
    return isMissing ? 'ProgramAccountNotFound' : err
  }

  #takesFeeOnly(err: unknown, balance: bigint, fee: bigint): boolean {
    if (typeof err !== 'string' || !FEE_ONLY.includes(err) || balance < fee) return false
    return balance === fee || balance - fee >= this.minimumBalance(0)
  }

  /** Loads the accounts of a transaction except called programs, which are large and do not change. */
  #load({ wire }: ReadTransaction, keys: AccountKeys): (LocalAccount | null)[] {
    const called = new Set(wire.instructions.map(({ program }) => program))
    return keys.all.map((address, index) =>
      called.has(index) && !keys.isWritable(index) ? null : this.account(address)
    )
  }

  #tokenBalances(
    keys: AccountKeys,
    loaded: readonly (LocalAccount | null)[]
  ): ExecutionMeta['preTokenBalances'] {
    return keys.all.some(isTokenProgram) ? tokenBalancesOf(loaded, (address) => this.account(address)) : []
  }

  #lamports(address: Uint8Array): bigint {
    return this.#svm.getBalance(address) ?? 0n
  }

  #remember(address: Uint8Array): void {
    if (this.#attempted !== null || !this.#changes.has(pubkeyMapKey(address)))
      this.#rememberAs(address, this.account(address))
  }

  #rememberAs(address: Uint8Array, before: LocalAccount | null): void {
    const key = pubkeyMapKey(address)
    if (!this.#changes.has(key)) this.#changes.set(key, { address, before })
    if (this.#attempted?.has(key) === false) this.#attempted.set(key, { address, before })
  }

  #write(account: LocalAccount): void {
    const { address, lamports, data, owner, executable, rentEpoch } = account
    this.#svm.setAccount(address, new Account(lamports, data, owner, executable, rentEpoch))
    this.#keepRecent(pubkeyMapKey(address), lamports === 0n ? null : account)
  }

  #keepRecent(key: string, account: LocalAccount | null): void {
    this.#recent.set(key, account, RECENT_ENTRY_BYTES + (account?.data.length ?? 0))
  }

  #writeSlotHashes(): void {
    if (this.#slotHashes === null) return
    const hashes = Iterator.from(this.#slotHashes()).take(SLOT_HASHES_MAX).toArray()
    this.#slotHashes = null
    // Programs read the sysvar in its full size, as on chain.
    const data = new Uint8Array(8 + SLOT_HASHES_MAX * 40)
    const view = new DataView(data.buffer)
    view.setBigUint64(0, BigInt(hashes.length), true)
    for (const [index, { slot, blockhash }] of hashes.entries()) {
      view.setBigUint64(8 + index * 40, BigInt(slot), true)
      data.set(blockhash, 16 + index * 40)
    }
    this.#svm.setAccount(SLOT_HASHES_SYSVAR, new Account(1n, data, SYSVAR_OWNER, false, 0n))
  }
}

/** Returns the representation of a deleted account. */
export function emptyAccount(address: Uint8Array): LocalAccount {
  const data = new Uint8Array(0)
  return { address, owner: SYSTEM, lamports: 0n, data, executable: false, rentEpoch: RENT_EPOCH }
}
