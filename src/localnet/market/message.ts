import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import type { AccountUse } from './script.ts'

/** A table of addresses, each of which a version 0 transaction names by one byte. */
export interface LookupTable {
  readonly address: Pubkey
  readonly addresses: readonly Pubkey[]
}

/** One instruction, outer or inner. */
export interface CompiledCall {
  readonly program: Pubkey
  readonly accounts: readonly AccountUse[]
  readonly data: Uint8Array
}

export interface MessageParts {
  readonly payer: Pubkey
  readonly version: 'legacy' | 0
  readonly blockhash: Uint8Array
  readonly tables: readonly LookupTable[]
  readonly outer: readonly CompiledCall[]
  /** Calls below the outer ones; the message must name their accounts too. */
  readonly inner: readonly CompiledCall[]
  /** Tells whether execution changed an account, so that the message must mark it writable. */
  readonly isChanged: (address: Pubkey) => boolean
}

export interface Message {
  readonly bytes: Uint8Array
  readonly signerCount: number
  /** Static keys, then loaded writable ones, then loaded readonly ones. */
  readonly keys: readonly Pubkey[]
  readonly loadedWritable: readonly Pubkey[]
  readonly loadedReadonly: readonly Pubkey[]
  indexOf(address: Pubkey): number
}

interface Key {
  readonly address: Pubkey
  signer: boolean
  writable: boolean
  program: boolean
}

/** Orders the accounts of a transaction as the runtime requires, and writes its message. */
export function compileMessage(parts: MessageParts): Message {
  const named = collectKeys(parts)
  const lookups = parts.version === 0 ? placeInTables(named, parts.tables) : new Map<Key, TablePlace>()
  /** Static keys: signers that are writable, other signers, other writable ones, and the rest. */
  const ranks: [Key[], Key[], Key[], Key[]] = [[], [], [], []]
  for (const key of named)
    if (!lookups.has(key)) ranks[((key.signer ? 0 : 2) + (key.writable ? 0 : 1)) as 0 | 1 | 2 | 3].push(key)
  const ordered = ranks.flat()
  const signerCount = ranks[0].length + ranks[1].length
  const used = parts.tables
    .map((table) => ({
      table,
      writable: named.filter((key) => lookups.get(key)?.table === table && key.writable),
      readonly: named.filter((key) => lookups.get(key)?.table === table && !key.writable)
    }))
    .filter(({ writable, readonly }) => writable.length + readonly.length > 0)
  const loadedWritable = used.flatMap(({ writable }) => writable.map(({ address }) => address))
  const loadedReadonly = used.flatMap(({ readonly }) => readonly.map(({ address }) => address))
  const keys = [...ordered.map(({ address }) => address), ...loadedWritable, ...loadedReadonly]
  if (keys.length > 256) throw new RangeError('a transaction names 256 accounts at most')
  const indexes = new Map(keys.map((key, index) => [pubkeyMapKey(key), index]))
  const indexOf = (address: Pubkey): number => indexes.get(pubkeyMapKey(address)) ?? -1

  const bytes = new Bytes()
  if (parts.version === 0) bytes.u8(0x80)
  bytes.u8(signerCount)
  bytes.u8(ranks[1].length)
  bytes.u8(ranks[3].length)
  bytes.compact(ordered.length)
  for (const { address } of ordered) bytes.put(address)
  bytes.put(parts.blockhash)
  bytes.compact(parts.outer.length)
  for (const { program, accounts, data } of parts.outer) {
    bytes.u8(indexOf(program))
    bytes.compact(accounts.length)
    for (const { address } of accounts) bytes.u8(indexOf(address))
    bytes.compact(data.length)
    bytes.put(data)
  }
  if (parts.version === 0) {
    bytes.compact(used.length)
    for (const { table, writable, readonly } of used) {
      bytes.put(table.address)
      for (const part of [writable, readonly]) {
        bytes.compact(part.length)
        for (const key of part) bytes.u8(lookups.get(key)!.index)
      }
    }
  }
  return { bytes: bytes.finish(), signerCount, keys, loadedWritable, loadedReadonly, indexOf }
}

/** Joins signatures and message. */
export function writeTransaction(signatures: readonly Uint8Array[], message: Uint8Array): Uint8Array {
  const bytes = new Bytes()
  bytes.compact(signatures.length)
  for (const signature of signatures) bytes.put(signature)
  bytes.put(message)
  return bytes.finish()
}

function collectKeys({ payer, outer, inner, isChanged }: MessageParts): Key[] {
  const keys = new Map<string, Key>()
  const name = (address: Pubkey): Key => {
    const text = pubkeyMapKey(address)
    const known = keys.get(text)
    if (known !== undefined) return known
    const key = { address, signer: false, writable: false, program: false }
    keys.set(text, key)
    return key
  }
  Object.assign(name(payer), { signer: true, writable: true })
  for (const { program, accounts } of outer) {
    for (const use of accounts) {
      const key = name(use.address)
      key.signer ||= use.signer === true
      key.writable ||= use.writable === true
    }
    name(program).program = true
  }
  // A derived address signs inner calls, never the transaction.
  for (const { program, accounts } of inner) {
    for (const use of accounts) name(use.address)
    name(program)
  }
  for (const key of keys.values()) key.writable ||= isChanged(key.address)
  return [...keys.values()]
}

interface TablePlace {
  readonly table: LookupTable
  readonly index: number
}

function placeInTables(keys: readonly Key[], tables: readonly LookupTable[]): Map<Key, TablePlace> {
  const places = new Map<Key, TablePlace>()
  for (const table of tables) {
    const indexes = new Map(table.addresses.map((address, index) => [pubkeyMapKey(address), index]))
    for (const key of keys) {
      if (key.signer || key.program || places.has(key)) continue
      const index = indexes.get(pubkeyMapKey(key.address))
      if (index !== undefined) places.set(key, { table, index })
    }
  }
  return places
}

/** Shared, because messages are written one at a time; larger than any transaction that a node accepts. */
const SCRATCH = new Uint8Array(16_384)

class Bytes {
  #size = 0

  u8(value: number): void {
    SCRATCH[this.#size++] = value
  }

  put(bytes: Uint8Array): void {
    SCRATCH.set(bytes, this.#size)
    this.#size += bytes.length
  }

  /** Writes Solana's compact-u16. */
  compact(value: number): void {
    let rest = value
    for (; rest > 127; rest >>= 7) this.u8((rest & 127) | 128)
    this.u8(rest)
  }

  /** Returns the bytes; throws a RangeError if they exceed the buffer. */
  finish(): Uint8Array {
    if (this.#size > SCRATCH.length) throw new RangeError('a transaction is too long')
    return SCRATCH.slice(0, this.#size)
  }
}
