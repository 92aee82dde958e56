import { createHash } from 'node:crypto'
import { hashOfKeyBytes } from '../../src/chain/account-hash.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey, type PubkeyTable } from '../../src/chain/pubkey.ts'
import {
  readMovements,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM
} from '../../src/chain/token-movement.ts'
import type { AccountKeys, Instruction, TokenBalance, Transaction } from '../../src/chain/transaction.ts'

/**
 * Transactions built from names, for tests. An account is a base58 address, or any other text, which gets an address
 * derived from it.
 */
export interface CallSpec {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Uint8Array
  /** Inner calls in execution order, nested to any depth. */
  readonly inner?: readonly CallSpec[]
  /** Payloads that the call itself writes as `Program data:`, after its inner calls. */
  readonly logged?: readonly Uint8Array[]
  /** Whole log lines that the call itself writes, after its inner calls. */
  readonly lines?: readonly string[]
}

export interface BalanceSpec {
  readonly account: string
  readonly mint: string
  readonly owner?: string
  readonly decimals: number
  /**
   * Balance before and after; null if the account does not exist then. If one is missing, it follows from the other and the
   * calls' movements; if both are, the account holds the least possible. A Token-2022 transfer without a stated fee moves
   * nothing here: the balances leave it open.
   */
  readonly before?: bigint | null
  readonly after?: bigint | null
}

export interface TransactionSpec {
  /** The first pays the fee. */
  readonly signers: readonly string[]
  readonly calls: readonly CallSpec[]
  readonly balances?: readonly BalanceSpec[]
  readonly failed?: boolean
  /** False leaves out stack heights, as older records do. */
  readonly heights?: boolean
  /** Lamports before and after by account; the others hold 0, and the fee payer pays the fee alone. */
  readonly lamports?: Readonly<Record<string, readonly [before: number, after: number]>>
  /** Replaces the log that follows from the calls; null for a record without. */
  readonly logs?: readonly string[] | null
}

/** The fee of every built transaction. */
export const FEE_LAMPORTS = 5_000

/** The address that a name stands for. */
export function keyOf(name: string): Pubkey {
  if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(name)) {
    try {
      return pubkeyFromBase58(name)
    } catch {
      // A long name that is no address.
    }
  }
  return new Uint8Array(createHash('sha256').update(name).digest())
}

export function buildTransaction(spec: TransactionSpec): Transaction {
  const names: string[] = []
  const indexOf = (name: string): number => {
    const known = names.indexOf(name)
    return known >= 0 ? known : names.push(name) - 1
  }
  spec.signers.forEach(indexOf)
  const instructions: Instruction[] = []
  const logs: string[] = []
  let outerIndex = 0
  let innerCount = 0
  const run = (call: CallSpec, height: number): void => {
    const inner = height > 1
    instructions.push({
      program: indexOf(call.program),
      accounts: call.accounts.map(indexOf),
      data: call.data,
      height: inner && spec.heights === false ? 0 : height,
      outerIndex,
      innerIndex: inner ? innerCount++ : null
    })
    const program = pubkeyToBase58(keyOf(call.program))
    logs.push(`Program ${program} invoke [${height}]`)
    for (const child of call.inner ?? []) run(child, height + 1)
    for (const payload of call.logged ?? []) logs.push(`Program data: ${payload.toBase64()}`)
    logs.push(...(call.lines ?? []))
    logs.push(`Program ${program} success`)
  }
  for (const call of spec.calls) {
    innerCount = 0
    run(call, 1)
    outerIndex++
  }
  const balances = (spec.balances ?? []).map((balance) => ({
    ...balance,
    ...amountsOf(balance, netMovement(instructions, names, indexOf(balance.account)))
  }))
  const side = (of: 'before' | 'after'): TokenBalance[] =>
    balances
      .filter((balance) => balance[of] !== null)
      .map(({ account, mint, owner, decimals, ...amounts }) => ({
        account: indexOf(account),
        mint: keyOf(mint),
        owner: owner === undefined ? null : keyOf(owner),
        amount: amounts[of] ?? 0n,
        decimals
      }))
  const preTokenBalances = side('before')
  const postTokenBalances = side('after')
  return {
    signature: new Uint8Array(64),
    index: null,
    version: 0,
    failed: spec.failed ?? false,
    keys: new NamedKeys(names.map(keyOf)),
    signerCount: spec.signers.length,
    feeLamports: BigInt(FEE_LAMPORTS),
    instructions,
    nestingKnown: spec.heights !== false || instructions.every(({ innerIndex }) => innerIndex === null),
    logs: spec.logs === undefined ? logs : spec.logs,
    preTokenBalances,
    postTokenBalances,
    preBalances: names.map((name, i) => spec.lamports?.[name]?.[0] ?? (i === 0 ? FEE_LAMPORTS + 1 : 0)),
    postBalances: names.map((name, i) => spec.lamports?.[name]?.[1] ?? (i === 0 ? 1 : 0))
  }
}

function amountsOf(
  { before, after }: BalanceSpec,
  net: bigint
): { readonly before: bigint | null | undefined; readonly after: bigint | null | undefined } {
  if (before === null || after === null || (before !== undefined && after !== undefined))
    return { before, after }
  if (before !== undefined) return { before, after: before + net }
  if (after !== undefined) return { before: after - net, after }
  return net < 0n ? { before: -net, after: 0n } : { before: 0n, after: net }
}

/** Returns the amount that the calls moved into an account, minus the amount that they moved out of it. */
function netMovement(
  instructions: readonly Instruction[],
  names: readonly string[],
  account: number
): bigint {
  let net = 0n
  for (const instruction of instructions) {
    const program = names[instruction.program]
    if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) continue
    readMovements(instruction, program === TOKEN_PROGRAM ? 'token' : 'token-2022', {
      movement: ({ source, destination, amount, fee, mayWithhold }) => {
        if (source === account) net -= amount
        if (destination === account && (!mayWithhold || fee !== null)) net += amount - (fee ?? 0n)
      },
      opening: () => undefined
    })
  }
  return net
}

class NamedKeys implements AccountKeys {
  readonly #keys: readonly Pubkey[]

  constructor(keys: readonly Pubkey[]) {
    this.#keys = keys
  }

  get length(): number {
    return this.#keys.length
  }

  bytes(index: number): Pubkey {
    const key = this.#keys[index]
    if (key === undefined) throw new RangeError('no such account')
    return key
  }

  lookup<T>(index: number, table: PubkeyTable<T>): T | undefined {
    return table.ofBytes(this.bytes(index))
  }

  isWritable(): boolean {
    return false
  }

  hash(index: number): number {
    return hashOfKeyBytes(this.bytes(index))
  }

  writableHashes(_into: Float64Array, from: number): number {
    return from
  }
}

/** Little-endian bytes of an unsigned integer. */
export function littleEndian(value: bigint, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => Number((value >> BigInt(8 * i)) & 255n))
}

function join(...parts: (number | Uint8Array)[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])))
}

/** SPL Token `Transfer`. */
export function tokenTransfer(
  source: string,
  destination: string,
  authority: string,
  amount: bigint
): CallSpec {
  return {
    program: TOKEN_PROGRAM,
    accounts: [source, destination, authority],
    data: join(3, littleEndian(amount, 8))
  }
}

/** `TransferChecked`, or Token-2022's `TransferCheckedWithFee` when a fee is given. */
export function checkedTransfer(
  source: string,
  mint: string,
  destination: string,
  authority: string,
  amount: bigint,
  decimals: number,
  more: { readonly program?: string; readonly fee?: bigint } = {}
): CallSpec {
  const body = join(littleEndian(amount, 8), decimals)
  return {
    program: more.program ?? (more.fee === undefined ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM),
    accounts: [source, mint, destination, authority],
    data: more.fee === undefined ? join(12, body) : join(26, 1, body, littleEndian(more.fee, 8))
  }
}

export function mintTo(mint: string, account: string, authority: string, amount: bigint): CallSpec {
  return {
    program: TOKEN_PROGRAM,
    accounts: [mint, account, authority],
    data: join(7, littleEndian(amount, 8))
  }
}

export function burn(account: string, mint: string, authority: string, amount: bigint): CallSpec {
  return {
    program: TOKEN_PROGRAM,
    accounts: [account, mint, authority],
    data: join(8, littleEndian(amount, 8))
  }
}

/** System `Transfer` of lamports. */
export function lamportTransfer(from: string, to: string, lamports: bigint): CallSpec {
  return {
    program: SYSTEM_PROGRAM,
    accounts: [from, to],
    data: join(littleEndian(2n, 4), littleEndian(lamports, 8))
  }
}

/** System `CreateAccount`. */
export function createAccount(from: string, account: string, lamports: bigint): CallSpec {
  return {
    program: SYSTEM_PROGRAM,
    accounts: [from, account],
    data: join(littleEndian(0n, 4), littleEndian(lamports, 8), littleEndian(165n, 8), new Uint8Array(32))
  }
}

/** SPL Token `CloseAccount`. */
export function closeAccount(account: string, receiver: string, authority: string): CallSpec {
  return { program: TOKEN_PROGRAM, accounts: [account, receiver, authority], data: Uint8Array.of(9) }
}

/** Token `SyncNative`: makes lamports that a wrapped SOL account has beyond its tokens its tokens. */
export function syncNative(account: string): CallSpec {
  return { program: TOKEN_PROGRAM, accounts: [account], data: join(17) }
}

/** Token-2022 withdrawal of withheld transfer fees, from the mint or from two accounts. */
export function withdrawFees(
  from: 'mint' | 'accounts',
  mint: string,
  destination: string,
  authority: string
): CallSpec {
  const sources = from === 'mint' ? [] : ['source 1', 'source 2']
  return {
    program: TOKEN_2022_PROGRAM,
    accounts: [mint, destination, authority, ...sources],
    data: from === 'mint' ? join(26, 2) : join(26, 3, sources.length)
  }
}

/** Token-2022 `HarvestWithheldTokensToMint` from one account. */
export function harvestFees(mint: string, source: string): CallSpec {
  return { program: TOKEN_2022_PROGRAM, accounts: [mint, source], data: join(26, 4) }
}
