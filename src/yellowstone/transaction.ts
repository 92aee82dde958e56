import { TRANSACTION_INDEX_MAX } from '../chain/chain-numbers.ts'
import type {
  AccountKeys,
  Instruction,
  TokenBalance,
  Transaction,
  TransactionConfig,
  TransactionVersion,
  UnstatedSection
} from '../chain/transaction.ts'
import { StreamedKeys } from './account-keys.ts'
import { readInstruction } from './instruction.ts'
import { readMessage, votesOnly, type MessageParts } from './message.ts'
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
const SIGNATURE_BYTES = 64
const BLOCKHASH_BYTES = 32
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
  readonly unstated: readonly UnstatedSection[] | undefined
  readonly #from: ProtobufReader
  readonly #signatureAt: number
  #signature: Uint8Array | undefined
  readonly #lifetimeAt: number
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
    this.#lifetimeAt = message.lifetime
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
    this.unstated = meta.unstated
    this.#readLogs = meta.readLogs
  }

  /** A copy, like the keys. */
  get signature(): Uint8Array {
    return (this.#signature ??= this.#from.copy(this.#signatureAt, this.#signatureAt + SIGNATURE_BYTES))
  }

  /** Returns a copy, made at each call, because it is rarely called. */
  get lifetime(): Uint8Array | undefined {
    const at = this.#lifetimeAt
    return at < 0 ? undefined : this.#from.copy(at, at + BLOCKHASH_BYTES)
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
