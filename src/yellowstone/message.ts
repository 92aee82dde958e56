import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import { VOTE_PROGRAM } from '../chain/rpc/entry.ts'
import type { TransactionConfig, TransactionVersion } from '../chain/transaction.ts'
import type { MessageHeader } from '../chain/wire.ts'
import { bytesField, MessageFault, varintField, type ProtobufReader } from './protobuf.ts'

// Message
const HEADER = bytesField(1)
const ACCOUNT_KEY = bytesField(2)
const RECENT_BLOCKHASH = bytesField(3)
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
const KEY_BYTES = 32

/** A message, with offsets in the place of its keys and instructions. */
export interface MessageParts {
  readonly version: TransactionVersion
  readonly header: MessageHeader
  readonly config: TransactionConfig | undefined
  /** Offset of the recent blockhash; -1 if it does not have 32 bytes. */
  readonly lifetime: number
  /** Offsets of the static keys. */
  readonly keys: readonly number[]
  /** Start and end offset of each outer instruction. */
  readonly instructions: readonly number[]
  readonly lookedUp: number
}

/** Reads the message that ends at `end`; throws MessageFault. */
export function readMessage(from: ProtobufReader, end: number): MessageParts {
  const field = 'transaction.message'
  let header: MessageHeader = { signatures: 0, readonlySigned: 0, readonlyUnsigned: 0 }
  let config: TransactionConfig | undefined
  let lookedUp = 0
  let lifetime = -1
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
    } else if (tag === RECENT_BLOCKHASH) {
      const stop = from.span(end, `${field}.recentBlockhash`)
      if (stop - from.at === KEY_BYTES) lifetime = from.at
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
  return { version, header, config, lifetime, keys, instructions, lookedUp }
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

/** Returns whether every outer instruction calls the vote program, as in src/chain/rpc. */
export function votesOnly(from: ProtobufReader, { instructions, keys }: MessageParts): boolean {
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
