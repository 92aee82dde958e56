import type { TransactionConfig, TransactionVersion } from './transaction.ts'

/** A transaction read from its bytes: legacy and version 0 as in web3.js, version 1 as in SIMD-0385. */
export interface WireTransaction {
  readonly version: TransactionVersion
  /** 64 bytes each; the first is the transaction's own. */
  readonly signatures: readonly Uint8Array[]
  /** The bytes that the signatures sign. */
  readonly message: Uint8Array
  readonly header: MessageHeader
  readonly keyCount: number
  /** The static keys, 32 bytes each, one after the other. */
  readonly keys: Uint8Array
  /** The recent blockhash (32 bytes); in version 1 the field in its place. */
  readonly lifetime: Uint8Array
  readonly instructions: readonly WireInstruction[]
  /** Empty in legacy and version 1. */
  readonly lookups: readonly WireLookup[]
  /** Null except in version 1. */
  readonly config: TransactionConfig | null
}

export interface MessageHeader {
  readonly signatures: number
  readonly readonlySigned: number
  readonly readonlyUnsigned: number
}

export interface WireInstruction {
  /** Index among static keys, then loaded writable ones, then loaded readonly ones. */
  readonly program: number
  readonly accounts: Uint8Array
  readonly data: Uint8Array
}

export interface WireLookup {
  readonly table: Uint8Array
  readonly writable: Uint8Array
  readonly readonly: Uint8Array
}

export type WireOutcome =
  | { readonly kind: 'wire'; readonly wire: WireTransaction }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** Reason for a transaction that lacks signatures but is otherwise well formed. */
export const TOO_FEW_SIGNATURES = 'too few signatures'

const VERSIONED = 0x80

/**
 * Reads a serialized transaction. Its fields are views of the given bytes; nothing is copied. Key indexes are checked
 * against static and looked-up keys; signatures are not verified.
 */
export function readWire(bytes: Uint8Array): WireOutcome {
  const from = new WireCursor(bytes)
  // Version 1 puts its signatures last. Its first byte cannot be a signature count: no count reaches 129.
  const wire = bytes[0] === (VERSIONED | 1) ? readVersion1(from) : readWithSignaturesFirst(from)
  if (typeof wire === 'string') return { kind: 'unreadable', reason: wire }
  if (from.beyond) return { kind: 'unreadable', reason: 'transaction bytes end early' }
  if (from.at !== bytes.length) return { kind: 'unreadable', reason: 'bytes after the transaction' }
  const reason = faultOf(wire)
  return reason === null ? { kind: 'wire', wire } : { kind: 'unreadable', reason }
}

/** Returns a copy of the static key at an index. */
export function staticKey({ keys }: Pick<WireTransaction, 'keys'>, index: number): Uint8Array {
  return keys.slice(index * 32, index * 32 + 32)
}

/** Tells whether every outer instruction calls one program; reads raw keys. */
export function callsOnly(wire: WireTransaction, program: Uint8Array): boolean {
  const { keys, instructions } = wire
  for (const instruction of instructions) {
    const start = instruction.program * 32
    if (start >= keys.length) return false
    for (let i = 0; i < 32; i++) if (keys[start + i] !== program[i]) return false
  }
  return instructions.length > 0
}

function readWithSignaturesFirst(from: WireCursor): WireTransaction | string {
  const signatures = readSignatures(from, from.compact())
  const start = from.at
  const first = from.peek()
  let version: TransactionVersion = 'legacy'
  if (first >= VERSIONED) {
    if (first !== VERSIONED) return `message version ${first - VERSIONED}`
    version = 0
    from.at++
  }
  const header = readHeader(from)
  const keyCount = from.compact()
  const keys = from.take(keyCount * 32)
  const lifetime = from.take(32)
  const instructions: WireInstruction[] = []
  for (let left = from.compact(); left > 0 && !from.beyond; left--) {
    const program = from.u8()
    const accounts = from.take(from.compact())
    instructions.push({ program, accounts, data: from.take(from.compact()) })
  }
  const lookups: WireLookup[] = []
  if (version === 0) {
    for (let left = from.compact(); left > 0 && !from.beyond; left--) {
      const table = from.take(32)
      const writable = from.take(from.compact())
      lookups.push({ table, writable, readonly: from.take(from.compact()) })
    }
  }
  const message = from.since(start)
  return {
    version,
    signatures,
    message,
    header,
    keyCount,
    keys,
    lifetime,
    instructions,
    lookups,
    config: null
  }
}

function readVersion1(from: WireCursor): WireTransaction | string {
  from.at++
  const header = readHeader(from)
  const mask = from.u32()
  const lifetime = from.take(32)
  const instructionCount = from.u8()
  const keyCount = from.u8()
  const keys = from.take(keyCount * 32)
  const config = readConfig(from, mask)
  if (config === null) return `transaction config mask ${mask}`
  const heads: { program: number; accounts: number; data: number }[] = []
  for (let i = 0; i < instructionCount && !from.beyond; i++) {
    heads.push({ program: from.u8(), accounts: from.u8(), data: from.u16() })
  }
  const instructions = heads.map((head) => {
    const accounts = from.take(head.accounts)
    return { program: head.program, accounts, data: from.take(head.data) }
  })
  const message = from.since(0)
  const signatures = readSignatures(from, header.signatures)
  return {
    version: 1,
    signatures,
    message,
    header,
    keyCount,
    keys,
    lifetime,
    instructions,
    lookups: [],
    config
  }
}

function readHeader(from: WireCursor): MessageHeader {
  return { signatures: from.u8(), readonlySigned: from.u8(), readonlyUnsigned: from.u8() }
}

function readSignatures(from: WireCursor, count: number): Uint8Array[] {
  const signatures: Uint8Array[] = []
  for (let i = 0; i < count && !from.beyond; i++) signatures.push(from.take(64))
  return signatures
}

/**
 * Reads the budget of SIMD-0385: bits 0 and 1 together are the u64 priority fee, bits 2 to 4 one u32 each. Null for
 * other bits.
 */
function readConfig(from: WireCursor, mask: number): TransactionConfig | null {
  const fee = mask & 0b11
  if (mask >>> 5 !== 0 || fee === 1 || fee === 2) return null
  return {
    priorityFeeLamports: fee === 0 ? null : from.u64(),
    computeUnitLimit: (mask & 0b100) === 0 ? null : from.u32(),
    loadedAccountsBytesMax: (mask & 0b1000) === 0 ? null : from.u32(),
    heapBytes: (mask & 0b10000) === 0 ? null : from.u32()
  }
}

function faultOf(wire: WireTransaction): string | null {
  const { header, keyCount } = wire
  if (header.signatures === 0 || header.signatures > keyCount) return 'message header'
  let total = keyCount
  for (const lookup of wire.lookups) total += lookup.writable.length + lookup.readonly.length
  if (total > 256) return 'number of account keys'
  for (const { program, accounts } of wire.instructions) {
    if (program >= total) return 'program index'
    for (const account of accounts) if (account >= total) return 'account index'
  }
  if (wire.signatures.length < header.signatures) return TOO_FEW_SIGNATURES
  return wire.signatures.length > header.signatures ? 'too many signatures' : null
}

/** Reads forward. Past the end it returns zeros and sets `beyond`, so that a reader checks once. */
class WireCursor {
  readonly #bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get beyond(): boolean {
    return this.at > this.#bytes.length
  }

  peek(): number {
    return this.#bytes[this.at] ?? 0
  }

  u8(): number {
    return this.#bytes[this.at++] ?? 0
  }

  u16(): number {
    return this.u8() | (this.u8() << 8)
  }

  u32(): number {
    return (this.u16() | (this.u16() << 16)) >>> 0
  }

  u64(): bigint {
    return BigInt(this.u32()) | (BigInt(this.u32()) << 32n)
  }

  /** Reads Solana's compact-u16: seven bits a byte, at most three bytes. */
  compact(): number {
    const first = this.u8()
    if (first < 0x80) return first
    const second = this.u8()
    if (second < 0x80) return (first & 0x7f) | (second << 7)
    return (first & 0x7f) | ((second & 0x7f) << 7) | (this.u8() << 14)
  }

  take(size: number): Uint8Array {
    const start = this.at
    this.at += size
    return this.#bytes.subarray(start, this.at)
  }

  since(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.at)
  }
}
