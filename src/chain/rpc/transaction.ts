import { decodeBase58 } from '../base58.ts'
import { BLOCK_TIME_MAX, SLOT_MAX, TRANSACTION_INDEX_MAX } from '../chain-numbers.ts'
import { PubkeyTable } from '../pubkey.ts'
import type {
  AccountKeys,
  Instruction,
  TokenBalance,
  Transaction,
  TransactionConfig,
  TransactionVersion,
  UnstatedSection
} from '../transaction.ts'
import { unstatedSections } from '../unstated-sections.ts'
import type { WireTransaction } from '../wire.ts'
import { TextKeys, WireKeys } from './account-keys.ts'
import { openEntry, VOTE_PROGRAM, type OpenedEntry } from './entry.ts'
import {
  boundedOrNull,
  countOf,
  isKeyText,
  isObject,
  listOf,
  listOrEmpty,
  objectOf,
  readOrExplain,
  signatureTextOf,
  Unreadable,
  type JsonObject,
  type UnreadableOutcome
} from './fields.ts'
import { placeOuter, readInstruction, readInstructions, type KeyScope } from './instruction.ts'
import { configOf, isParsed, keyTexts, loadedTexts, locksOf, textScope, versionOf } from './message.ts'
import { unwrapResponse, type AbsentOutcome, type RpcFailure } from './response.ts'
import { readTokenBalances } from './token-balance.ts'

export type TransactionOutcome =
  | {
      readonly kind: 'transaction'
      readonly transaction: Transaction
      /** Null if the record does not state it. */
      readonly slot: number | null
      /** Unix seconds; null if the record does not state it. */
      readonly blockTime: number | null
      /** True for `jsonParsed`, where an unknown instruction is empty. */
      readonly parsed: boolean
    }
  | RpcFailure
  | AbsentOutcome
  | UnreadableOutcome

/**
 * Reads a getTransaction result, bare or as the whole JSON-RPC response, in the encodings `json`, `jsonParsed`,
 * `base64` and `base58`. A given position in the block replaces the record's own. Never throws: every value has an
 * outcome, and no accessor of the returned transaction throws later.
 */
export function readRpcTransaction(value: unknown, position: number | null = null): TransactionOutcome {
  const payload = unwrapResponse(value)
  if (payload.kind !== 'result') return payload
  return readOrExplain(() => {
    const entry = objectOf(payload.result, 'transaction')
    const opened = openEntry(entry)
    const index = position ?? boundedOrNull(entry.transactionIndex, TRANSACTION_INDEX_MAX, 'transactionIndex')
    return {
      kind: 'transaction',
      transaction: readEntry(entry, opened, index),
      slot: boundedOrNull(entry.slot, SLOT_MAX, 'slot'),
      blockTime: boundedOrNull(entry.blockTime, BLOCK_TIME_MAX, 'blockTime'),
      parsed: opened.kind === 'message' && isParsed(opened.message)
    }
  })
}

const VOTES = new PubkeyTable([[VOTE_PROGRAM, true]])

/** Tells whether a transaction only votes. */
export function isVoteTransaction({ instructions, keys }: Transaction): boolean {
  if (instructions.length === 0) return false
  return instructions.every(({ innerIndex, program }) => innerIndex !== null || keys.lookup(program, VOTES))
}

/** Reads the transaction of an opened entry at an index in the block; throws Unreadable. */
export function readEntry(entry: JsonObject, opened: OpenedEntry, index: number | null): Transaction {
  const meta = objectOf(entry.meta, 'meta')
  const fields = opened.kind === 'wire' ? ofWire(opened.wire, meta) : ofMessage(opened, entry.version, meta)
  const { version, signature, lifetime, keys, signerCount, config, outer, scope } = fields
  if (signerCount < 1 || signerCount > keys.length) throw new Unreadable('transaction.signatures')
  const inner = listOrEmpty(meta.innerInstructions, 'meta.innerInstructions')
  const preBalances = balancesOf(meta.preBalances, 'meta.preBalances')
  const postBalances = balancesOf(meta.postBalances, 'meta.postBalances')
  return new RpcTransaction(signature, lifetime, {
    index,
    version,
    failed: isFailed(meta),
    keys,
    signerCount,
    config,
    feeLamports: BigInt(countOf(meta.fee, 'meta.fee')),
    ...readInstructions(outer, inner, scope),
    logs: logsOf(meta.logMessages),
    ...readTokenBalances(meta, keys.length),
    preBalances,
    postBalances,
    unstated: unstatedSections({
      hasInner: isStated(meta.innerInstructions),
      hasTokenBalances: isStated(meta.preTokenBalances) && isStated(meta.postTokenBalances),
      keyCount: keys.length,
      preBalanceCount: preBalances.length,
      postBalanceCount: postBalances.length
    })
  })
}

/** Fields common to the binary and the JSON form of a transaction. */
interface TransactionFields {
  readonly version: TransactionVersion
  readonly signature: string | Uint8Array
  readonly lifetime: string | Uint8Array | undefined
  readonly keys: AccountKeys
  readonly signerCount: number
  readonly config: TransactionConfig | undefined
  readonly outer: { readonly count: number; read(index: number): Instruction }
  readonly scope: KeyScope
}

function ofWire(wire: WireTransaction, meta: JsonObject): TransactionFields {
  let lookedUp = 0
  let loadedWritable = 0
  for (const { writable, readonly } of wire.lookups) {
    lookedUp += writable.length + readonly.length
    loadedWritable += writable.length
  }
  const loaded = lookedUp === 0 ? [] : loadedTexts(meta)
  if (loaded.length !== lookedUp) throw new Unreadable('meta.loadedAddresses')
  const keys = new WireKeys(wire, loaded, loadedWritable)
  const { instructions } = wire
  return {
    version: wire.version,
    signature: wire.signatures[0]!,
    lifetime: wire.lifetime,
    keys,
    signerCount: wire.header.signatures,
    config: wire.config ?? undefined,
    outer: { count: instructions.length, read: (index) => placeOuter(instructions[index]!, index) },
    scope: { count: keys.length, indexOf: () => undefined }
  }
}

function ofMessage(
  opened: OpenedEntry & { kind: 'message' },
  version: unknown,
  meta: JsonObject
): TransactionFields {
  const { message, signatures } = opened
  const texts = keyTexts(message, meta)
  const found = versionOf(version, message)
  const scope = textScope(texts)
  const instructions = listOf(message.instructions, 'transaction.message.instructions')
  return {
    version: found,
    signature: signatureTextOf(signatures[0], 'transaction.signatures'),
    lifetime: typeof message.recentBlockhash === 'string' ? message.recentBlockhash : undefined,
    keys: new TextKeys(texts, locksOf(message, meta)),
    signerCount: isObject(message.header)
      ? countOf(message.header.numRequiredSignatures, 'transaction.message.header')
      : signatures.length,
    config: found === 1 ? configOf(message) : undefined,
    outer: {
      count: instructions.length,
      read: (outerIndex) => {
        const field = 'transaction.message.instructions'
        const place = { height: 1, outerIndex, innerIndex: null }
        return readInstruction(objectOf(instructions[outerIndex], field), place, scope, field)
      }
    },
    scope
  }
}

/** Tells whether a node has recorded a section: otherwise the section is null or absent. */
const isStated = (section: unknown): boolean => section !== undefined && section !== null

function isFailed({ err, status }: JsonObject): boolean {
  if (err !== undefined) return err !== null
  if (!isObject(status)) throw new Unreadable('meta.err')
  return 'Err' in status
}

function logsOf(value: unknown): readonly string[] | null {
  if (value === undefined || value === null) return null
  const logs = listOf(value, 'meta.logMessages')
  for (let i = 0; i < logs.length; i++) {
    if (typeof logs[i] !== 'string') throw new Unreadable('meta.logMessages')
  }
  return logs as readonly string[]
}

const U64_END = 2 ** 64

function balancesOf(value: unknown, field: string): readonly number[] {
  const balances = listOrEmpty(value, field)
  for (let i = 0; i < balances.length; i++) {
    // JSON.parse rounds balances above 2^53, the largest of them to 2^64.
    if (
      !Number.isInteger(balances[i]) ||
      !(0 <= (balances[i] as number) && (balances[i] as number) <= U64_END)
    )
      throw new Unreadable(field)
  }
  return balances as readonly number[]
}

class RpcTransaction implements Transaction {
  readonly index: number | null
  readonly version: TransactionVersion
  readonly failed: boolean
  readonly keys: AccountKeys
  readonly signerCount: number
  readonly config: TransactionConfig | undefined
  readonly feeLamports: bigint
  readonly instructions: readonly Instruction[]
  readonly nestingKnown: boolean
  readonly logs: readonly string[] | null
  readonly preTokenBalances: readonly TokenBalance[]
  readonly postTokenBalances: readonly TokenBalance[]
  readonly preBalances: readonly number[]
  readonly postBalances: readonly number[]
  readonly unstated: readonly UnstatedSection[] | undefined
  #signature: string | Uint8Array
  #lifetime: string | Uint8Array | undefined

  constructor(
    signature: string | Uint8Array,
    lifetime: string | Uint8Array | undefined,
    facts: Omit<Transaction, 'signature' | 'lifetime'>
  ) {
    this.#signature = signature
    this.#lifetime = lifetime
    this.index = facts.index
    this.version = facts.version
    this.failed = facts.failed
    this.keys = facts.keys
    this.signerCount = facts.signerCount
    this.config = facts.config
    this.feeLamports = facts.feeLamports
    this.instructions = facts.instructions
    this.nestingKnown = facts.nestingKnown
    this.logs = facts.logs
    this.preTokenBalances = facts.preTokenBalances
    this.postTokenBalances = facts.postTokenBalances
    this.preBalances = facts.preBalances
    this.postBalances = facts.postBalances
    this.unstated = facts.unstated
  }

  get signature(): Uint8Array {
    if (typeof this.#signature === 'string') this.#signature = decodeBase58(this.#signature)
    return this.#signature
  }

  get lifetime(): Uint8Array | undefined {
    if (typeof this.#lifetime === 'string')
      this.#lifetime = isKeyText(this.#lifetime) ? decodeBase58(this.#lifetime) : undefined
    return this.#lifetime
  }
}
