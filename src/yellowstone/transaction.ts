import { TRANSACTION_INDEX_MAX } from '../chain/chain-numbers.ts'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import { VOTE_PROGRAM } from '../chain/rpc/entry.ts'
import type {
  AccountKeys,
  Instruction,
  TokenBalance,
  Transaction,
  TransactionConfig,
  TransactionVersion
} from '../chain/transaction.ts'
import type { MessageHeader } from '../chain/wire.ts'
import { StreamedKeys } from './account-keys.ts'
import { readInstruction } from './instruction.ts'
import { readMeta, type TransactionMeta } from './meta.ts'
import { bytesField, MessageFault, varintField, type ProtobufReader } from './protobuf.ts'

// geyser.SubscribeUpdateTransactionInfo
const SIGNATURE = bytesField(1)
const IS_VOTE = varintField(2)
const TRANSACTION = bytesField(3)
const META = bytesField(4)
const INDEX = varintField(5)
// solana.storage.ConfirmedBlock.Transaction
const SIGNATURES = bytesField(1)
const MESSAGE = bytesField(2)
// Message
const HEADER = bytesField(1)
const ACCOUNT_KEY = bytesField(2)
const INSTRUCTION = bytesField(4)
const VERSIONED = varintField(5)
const LOOKUP = bytesField(6)
const CONFIG = bytesField(7)
// MessageHeader and MessageAddressTableLookup
const SIGNER_COUNT = varintField(1)
const READONLY_SIGNED = varintField(2)
const READONLY_UNSIGNED = varintField(3)
const WRITABLE_INDEXES = bytesField(2)
const READONLY_INDEXES = bytesField(3)

// TransactionConfig
const PRIORITY_FEE = varintField(1)
const COMPUTE_UNIT_LIMIT = varintField(2)
const LOADED_ACCOUNTS_BYTES = varintField(3)
const HEAP_BYTES = varintField(4)

const VOTE = pubkeyFromBase58(VOTE_PROGRAM)
const SIGNATURE_BYTES = 64
const KEY_BYTES = 32
/** An account index is one byte. */
const KEYS_MAX = 256

/** The offsets of a transaction's parts in the message of its block; the parts are not read yet. */
export interface TransactionPlace {
  /** Position in the block. */
  readonly index: number
  readonly isVote: boolean
  readonly signature: number
  readonly body: number
  readonly bodyEnd: number
  readonly meta: number
  readonly metaEnd: number
}

/** Finds the parts of the transaction whose message ends at `end`; throws MessageFault. */
export function placeTransaction(from: ProtobufReader, end: number): TransactionPlace {
  let [index, isVote, signature, body, bodyEnd, meta, metaEnd] = [0, false, -1, -1, -1, -1, -1]
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === SIGNATURE) {
      const stop = from.span(end, 'signature')
      // A signature of another size counts as absent, so that only this transaction is left out, not the block.
      if (stop - from.at === SIGNATURE_BYTES) signature = from.at
      from.at = stop
    } else if (tag === IS_VOTE) isVote = from.flag(end, 'isVote')
    else if (tag === TRANSACTION) {
      bodyEnd = from.span(end, 'transaction')
      body = from.at
      from.at = bodyEnd
    } else if (tag === META) {
      metaEnd = from.span(end, 'meta')
      meta = from.at
      from.at = metaEnd
    } else if (tag === INDEX) index = from.bounded(end, TRANSACTION_INDEX_MAX, 'index')
    else from.skip(tag, end)
  }
  return { index, isVote, signature, body, bodyEnd, meta, metaEnd }
}

/**
 * Reads the transaction at a place; null for one that only votes, which is not read. Throws MessageFault. No accessor
 * of the returned transaction throws later.
 */
export function readTransaction(from: ProtobufReader, place: TransactionPlace): Transaction | null {
  // The runtime marks a transaction as a vote if it has one instruction, of the vote program.
  if (place.isVote) return null
  if (place.signature < 0) throw new MessageFault('signature')
  if (place.body < 0) throw new MessageFault('transaction')
  from.at = place.body
  const message = findMessage(from, place)
  if (votesOnly(from, message)) return null
  if (place.meta < 0) throw new MessageFault('meta')
  from.at = place.meta
  const total = message.keys.length + message.lookedUp
  if (total > KEYS_MAX) throw new MessageFault('transaction.message.accountKeys')
  const meta = readMeta(from, place.metaEnd, message.instructions.length / 2, total)
  if (meta.loaded.length !== message.lookedUp) throw new MessageFault('meta.loadedAddresses')
  return new StreamedTransaction(from, place, message, meta, total)
}

interface MessageParts {
  readonly version: TransactionVersion
  readonly header: MessageHeader
  readonly config: TransactionConfig | undefined
  /** Offsets of the static keys. */
  readonly keys: readonly number[]
  /** Start and end offset of each outer instruction. */
  readonly instructions: readonly number[]
  readonly lookedUp: number
}

function findMessage(from: ProtobufReader, { signature, bodyEnd }: TransactionPlace): MessageParts {
  const field = 'transaction.signatures'
  let signatures = 0
  let parts: MessageParts | undefined
  while (from.at < bodyEnd) {
    const tag = from.tag(bodyEnd)
    if (tag === SIGNATURES) {
      const start = from.fixedBytes(bodyEnd, SIGNATURE_BYTES, field)
      if (signatures++ === 0 && !sameBytes(from.bytes, start, signature)) throw new MessageFault(field)
    } else if (tag === MESSAGE) {
      const end = from.span(bodyEnd, 'transaction.message')
      parts = readMessage(from, end)
    } else from.skip(tag, bodyEnd)
  }
  if (parts === undefined) throw new MessageFault('transaction.message')
  if (signatures !== parts.header.signatures) throw new MessageFault(field)
  return parts
}

function readMessage(from: ProtobufReader, end: number): MessageParts {
  const field = 'transaction.message'
  let header: MessageHeader = { signatures: 0, readonlySigned: 0, readonlyUnsigned: 0 }
  let config: TransactionConfig | undefined
  let lookedUp = 0
  let versioned = false
  const keys: number[] = []
  const instructions: number[] = []
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === ACCOUNT_KEY) keys.push(from.fixedBytes(end, KEY_BYTES, `${field}.accountKeys`))
    else if (tag === INSTRUCTION) {
      const stop = from.span(end, `${field}.instructions`)
      instructions.push(from.at, stop)
      from.at = stop
    } else if (tag === HEADER) header = readHeader(from, from.span(end, `${field}.header`))
    else if (tag === VERSIONED) versioned = from.flag(end, `${field}.versioned`)
    else if (tag === LOOKUP) lookedUp += countLookedUp(from, from.span(end, `${field}.addressTableLookups`))
    // The presence of the config means version 1, whatever its content.
    else if (tag === CONFIG) config = readConfig(from, from.span(end, `${field}.config`))
    else from.skip(tag, end)
  }
  const { signatures } = header
  if (signatures < 1 || signatures > keys.length) throw new MessageFault(`${field}.header`)
  const version = config !== undefined ? 1 : versioned ? 0 : 'legacy'
  if ((config !== undefined && !versioned) || (lookedUp > 0 && version !== 0))
    throw new MessageFault(`${field}.versioned`)
  return { version, header, config, keys, instructions, lookedUp }
}

function readHeader(from: ProtobufReader, end: number): MessageHeader {
  let [signatures, readonlySigned, readonlyUnsigned] = [0, 0, 0]
  const field = 'transaction.message.header'
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === SIGNER_COUNT) signatures = from.count(end, field)
    else if (tag === READONLY_SIGNED) readonlySigned = from.count(end, field)
    else if (tag === READONLY_UNSIGNED) readonlyUnsigned = from.count(end, field)
    else from.skip(tag, end)
  }
  return { signatures, readonlySigned, readonlyUnsigned }
}

function readConfig(from: ProtobufReader, end: number): TransactionConfig {
  const field = 'transaction.message.config'
  let priorityFeeLamports: bigint | null = null
  let computeUnitLimit: number | null = null
  let loadedAccountsBytesMax: number | null = null
  let heapBytes: number | null = null
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === PRIORITY_FEE) priorityFeeLamports = from.u64(end, field)
    else if (tag === COMPUTE_UNIT_LIMIT) computeUnitLimit = from.count(end, field)
    else if (tag === LOADED_ACCOUNTS_BYTES) loadedAccountsBytesMax = from.count(end, field)
    else if (tag === HEAP_BYTES) heapBytes = from.count(end, field)
    else from.skip(tag, end)
  }
  return { priorityFeeLamports, computeUnitLimit, loadedAccountsBytesMax, heapBytes }
}

function countLookedUp(from: ProtobufReader, end: number): number {
  const field = 'transaction.message.addressTableLookups'
  let count = 0
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === WRITABLE_INDEXES || tag === READONLY_INDEXES) {
      const stop = from.span(end, field)
      count += stop - from.at
      from.at = stop
    } else from.skip(tag, end)
  }
  return count
}

/** Whether every outer instruction calls the vote program, as in src/chain/rpc. */
function votesOnly(from: ProtobufReader, { instructions, keys }: MessageParts): boolean {
  for (let i = 0; i < instructions.length; i += 2) {
    from.at = instructions[i]!
    const end = instructions[i + 1]!
    let program = 0
    while (from.at < end) {
      const tag = from.tag(end)
      if (tag === SIGNER_COUNT) program = from.count(end, 'transaction.message.instructions.programIdIndex')
      else from.skip(tag, end)
    }
    const key = keys[program]
    if (key === undefined || !isKey(from.bytes, key, VOTE)) return false
  }
  return instructions.length > 0
}

function isKey(bytes: Uint8Array, start: number, key: Uint8Array): boolean {
  for (let i = 0; i < KEY_BYTES; i++) if (bytes[start + i] !== key[i]) return false
  return true
}

function sameBytes(bytes: Uint8Array, one: number, other: number): boolean {
  for (let i = 0; i < SIGNATURE_BYTES; i++) if (bytes[one + i] !== bytes[other + i]) return false
  return true
}

class StreamedTransaction implements Transaction {
  readonly index: number
  readonly version: TransactionVersion
  readonly failed: boolean
  readonly keys: AccountKeys
  readonly signerCount: number
  readonly config: TransactionConfig | undefined
  readonly feeLamports: bigint
  readonly instructions: readonly Instruction[]
  readonly nestingKnown: boolean
  readonly preTokenBalances: readonly TokenBalance[]
  readonly postTokenBalances: readonly TokenBalance[]
  readonly preBalances: readonly number[]
  readonly postBalances: readonly number[]
  readonly #from: ProtobufReader
  readonly #signatureAt: number
  #signature: Uint8Array | undefined
  readonly #readLogs: () => readonly string[] | null
  #logs: readonly string[] | null | undefined

  constructor(
    from: ProtobufReader,
    place: TransactionPlace,
    message: MessageParts,
    meta: TransactionMeta,
    keyCount: number
  ) {
    this.#from = from
    this.#signatureAt = place.signature
    const { loaded, loadedWritable } = meta
    const locks = { ...message.header, statics: message.keys.length, loadedWritable }
    this.keys = new StreamedKeys(from, message.keys, loaded, locks)
    this.index = place.index
    this.version = message.version
    this.failed = meta.failed
    this.signerCount = message.header.signatures
    this.config = message.config
    this.feeLamports = meta.feeLamports
    this.instructions = inOrder(from, message, meta, keyCount)
    this.nestingKnown = meta.nestingKnown
    this.preTokenBalances = meta.preTokenBalances
    this.postTokenBalances = meta.postTokenBalances
    this.preBalances = meta.preBalances
    this.postBalances = meta.postBalances
    this.#readLogs = meta.readLogs
  }

  /** A copy, like the keys. */
  get signature(): Uint8Array {
    return (this.#signature ??= this.#from.copy(this.#signatureAt, this.#signatureAt + SIGNATURE_BYTES))
  }

  get logs(): readonly string[] | null {
    return this.#logs === undefined ? (this.#logs = this.#readLogs()) : this.#logs
  }
}

/** Returns outer and inner instructions in execution order. */
function inOrder(
  from: ProtobufReader,
  message: MessageParts,
  meta: TransactionMeta,
  keyCount: number
): readonly Instruction[] {
  const { instructions: spans } = message
  const all: Instruction[] = []
  for (let outerIndex = 0; outerIndex * 2 < spans.length; outerIndex++) {
    from.at = spans[outerIndex * 2]!
    const end = spans[outerIndex * 2 + 1]!
    all.push(
      readInstruction(
        from,
        end,
        keyCount,
        { outerIndex, innerIndex: null },
        'transaction.message.instructions'
      )
    )
    const inner = meta.inner[outerIndex]
    if (inner !== undefined) for (const instruction of inner) all.push(instruction)
  }
  return all
}
