import { VersionedMessage } from '@solana/web3.js'
import { decodeBase58, encodeBase58 } from '../../../src/chain/base58.ts'

/**
 * A recorded transaction read without the decoder and its readers: its calls as recorded, and its balance changes. Base64
 * messages are read by @solana/web3.js.
 */
export interface RawCall {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Uint8Array
  readonly ixIndex: number
  readonly innerIxIndex: number | null
  /** 1 for an outer instruction; null for an inner one without a recorded height. */
  readonly height: number | null
}

/** A token transfer, with the programs above it, outermost first. */
export interface RawTransfer {
  readonly source: string
  readonly destination: string
  readonly amount: bigint
  readonly callers: readonly string[]
}

/** Indexes in encoding `json`, addresses in `jsonParsed`, where token and system instructions have no bytes. */
interface RawInstruction {
  readonly programIdIndex?: number
  readonly programId?: string
  readonly accounts?: readonly (number | string)[]
  readonly data?: string
  readonly stackHeight?: number | null
}

interface RawBalance {
  readonly accountIndex: number
  readonly mint: string
  readonly owner?: string
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number }
}

interface RawMeta {
  readonly err: unknown
  readonly innerInstructions: readonly {
    readonly index: number
    readonly instructions: readonly RawInstruction[]
  }[]
  readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] }
  readonly preTokenBalances: readonly RawBalance[] | null
  readonly postTokenBalances: readonly RawBalance[] | null
  readonly preBalances: readonly number[] | null
  readonly postBalances: readonly number[] | null
}

interface RawMessage {
  readonly accountKeys: readonly (string | { readonly pubkey: string })[]
  readonly instructions: readonly RawInstruction[]
}

const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
])

export class RawRecord {
  readonly failed: boolean
  readonly keys: readonly string[]
  /** In execution order. */
  readonly calls: readonly RawCall[]
  readonly #meta: RawMeta

  /** Takes a getTransaction result, or an entry of a getBlock result, in any encoding but base58. */
  constructor(result: unknown) {
    const { transaction, meta } = result as {
      transaction: { message: RawMessage } | readonly [string, string]
      meta: RawMeta
    }
    this.#meta = meta
    this.failed = meta.err !== null && meta.err !== undefined
    const { keys, instructions, complete } =
      'message' in transaction ? ofJson(transaction.message) : ofBase64(transaction[0])
    const { writable, readonly } = meta.loadedAddresses ?? { writable: [], readonly: [] }
    this.keys = complete ? keys : [...keys, ...writable, ...readonly]
    const calls: RawCall[] = []
    instructions.forEach((outer, ixIndex) => {
      calls.push({ ...this.#name(outer), ixIndex, innerIxIndex: null, height: 1 })
      const group = meta.innerInstructions?.find(({ index }) => index === ixIndex)
      group?.instructions.forEach((inner, innerIxIndex) => {
        calls.push({ ...this.#name(inner), ixIndex, innerIxIndex, height: inner.stackHeight ?? null })
      })
    })
    this.calls = calls
  }

  #name(each: RawInstruction): Pick<RawCall, 'program' | 'accounts' | 'data'> {
    const keyOf = (key: string | number): string => (typeof key === 'string' ? key : this.keys[key]!)
    return {
      program: keyOf(each.programId ?? each.programIdIndex!),
      accounts: (each.accounts ?? []).map(keyOf),
      data: decodeBase58(each.data ?? '')
    }
  }

  /** Whether the record has balances; partial ones have none. */
  get hasBalances(): boolean {
    return (this.#meta.preBalances?.length ?? 0) > 0
  }

  #balance(side: 'preTokenBalances' | 'postTokenBalances', account: string): RawBalance | undefined {
    const index = this.keys.indexOf(account)
    return this.#meta[side]?.find(({ accountIndex }) => accountIndex === index)
  }

  /** The mint of a token account that exists before or after; null for any other account. */
  mintOf(account: string): string | null {
    return (
      (this.#balance('preTokenBalances', account) ?? this.#balance('postTokenBalances', account))?.mint ??
      null
    )
  }

  ownerOf(account: string): string | null {
    const balance = this.#balance('preTokenBalances', account) ?? this.#balance('postTokenBalances', account)
    return balance?.owner ?? null
  }

  /** Returns every transfer of the two token programs, or null if the record lacks the nesting. */
  tokenTransfers(): RawTransfer[] | null {
    const transfers: RawTransfer[] = []
    const open: string[] = []
    for (const { program, accounts, data, height } of this.calls) {
      if (height === null) return null
      open.length = height - 1
      const callers = [...open]
      open.push(program)
      if (!TOKEN_PROGRAMS.has(program)) continue
      const [tag] = data
      const isChecked = tag === 12 || (tag === 26 && data[1] === 1)
      if (tag !== 3 && !isChecked) continue
      const amount = new DataView(data.buffer, data.byteOffset).getBigUint64(tag === 26 ? 2 : 1, true)
      transfers.push({ source: accounts[0]!, destination: accounts[isChecked ? 2 : 1]!, amount, callers })
    }
    return transfers
  }

  /** Returns the change of a token account in base units; a missing account counts as empty. */
  tokenDifference(account: string): bigint {
    const before = this.#balance('preTokenBalances', account)?.uiTokenAmount.amount ?? 0
    const after = this.#balance('postTokenBalances', account)?.uiTokenAmount.amount ?? 0
    return BigInt(after) - BigInt(before)
  }

  /** Returns the change of a mint over all token accounts of an owner. */
  ownerDifference(owner: string, mint: string): bigint {
    const sum = (balances: readonly RawBalance[] | null): bigint =>
      (balances ?? [])
        .filter((balance) => balance.owner === owner && balance.mint === mint)
        .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n)
    return sum(this.#meta.postTokenBalances) - sum(this.#meta.preTokenBalances)
  }

  lamportDifference(account: string): bigint {
    const index = this.keys.indexOf(account)
    return BigInt(this.#meta.postBalances?.[index] ?? 0) - BigInt(this.#meta.preBalances?.[index] ?? 0)
  }
}

interface OpenedMessage {
  readonly keys: readonly string[]
  readonly instructions: readonly RawInstruction[]
  /** Whether the keys include the loaded ones. */
  readonly complete: boolean
}

function ofJson({ accountKeys, instructions }: RawMessage): OpenedMessage {
  const keys = accountKeys.map((key) => (typeof key === 'string' ? key : key.pubkey))
  return { keys, instructions, complete: accountKeys.some((key) => typeof key !== 'string') }
}

/** The message follows the signatures, of which there are fewer than 128. */
function ofBase64(text: string): OpenedMessage {
  const bytes = Uint8Array.fromBase64(text)
  const message = VersionedMessage.deserialize(bytes.subarray(1 + 64 * bytes[0]!))
  return {
    keys: message.staticAccountKeys.map((key) => key.toBase58()),
    instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      programIdIndex,
      accounts: accountKeyIndexes,
      data: encodeBase58(data)
    })),
    complete: false
  }
}
