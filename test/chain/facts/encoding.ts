import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { ByteKeys } from '../byte-keys.ts'
import { pubkeyMapKey, type Pubkey } from '../../../src/chain/pubkey.ts'
import type {
  Instruction,
  TokenBalance,
  Transaction,
  TransactionVersion
} from '../../../src/chain/transaction.ts'
import { FactReader, FactWriter } from './bytes.ts'
import { readLogLine, writeLogLine, type KeyPlaces } from './log-lines.ts'

/** A mainnet transaction in the decoder's input form, and its decoded events. */
export interface Fact {
  readonly transaction: Transaction
  /** How many of its keys came from lookup tables. */
  readonly loadedKeys: number
  /** Its events as eventText writes them. */
  readonly expected: string
}

/** A block of facts. For a single transaction it has no parent slot and may lack slot and time. */
export interface FactBlock {
  readonly slot: number | null
  /** Unix seconds. */
  readonly blockTime: number | null
  readonly parentSlot: number | null
  readonly votes: number
  readonly facts: readonly Fact[]
}

/**
 * Encodes blocks as a SHA-256 and the bytes that it covers. These are, in zstd, a format number, each key once, and the
 * blocks, whose transactions refer to keys by position. Integers are LEB128. Equal blocks always give equal bytes.
 */
export function encodeFacts(blocks: readonly FactBlock[]): Uint8Array {
  const body = new FactWriter()
  const pool = new KeyPool()
  body.list(blocks, (block) => writeBlock(body, block, pool))
  const writer = new FactWriter()
  writer.uint(FORMAT)
  writer.sized(pool.bytes())
  writer.raw(body.finish())
  const packed = zstdCompressSync(writer.finish(), { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } })
  return Buffer.concat([digestOf(packed), packed])
}

/** The inverse of encodeFacts. Throws if the digest does not match the bytes. */
export function decodeFacts(bytes: Uint8Array): FactBlock[] {
  const packed = bytes.subarray(DIGEST_BYTES)
  const digest = bytes.subarray(0, DIGEST_BYTES)
  if (Buffer.compare(digestOf(packed), digest) !== 0) throw new Error('facts are damaged')
  const content = new Uint8Array(zstdDecompressSync(packed, { maxOutputLength: CONTENT_BYTES_MAX }))
  const reader = new FactReader(content)
  if (reader.uint() !== FORMAT) throw new Error('facts of another format')
  const keys = new ByteKeys(reader.sized())
  const blocks = reader.list(() => readBlock(reader, keys))
  if (reader.left > 0) throw new Error('bytes after the facts')
  return blocks
}

/** The facts of a file; keys and data of the transactions are plain bytes. */
export function readFacts(path: string = FACTS_FILE): FactBlock[] {
  return decodeFacts(new Uint8Array(readFileSync(path)))
}

export const FACTS_FILE = `${import.meta.dirname}/facts.bin`

const FORMAT = 1
const DIGEST_BYTES = 32
// 0.1 s for the facts; brotli makes 4 % less of them in 1 s.
const LEVEL = 19
// Far more than a file of 2 MB holds, and little memory for a machine.
const CONTENT_BYTES_MAX = 64 * 1024 * 1024
const VERSIONS: readonly TransactionVersion[] = ['legacy', 0, 1]

function digestOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}

/** Keys in order of their first occurrence. */
class KeyPool {
  readonly #places = new Map<string, number>()
  readonly #keys: Pubkey[] = []

  placeOf(key: Pubkey): number {
    const name = pubkeyMapKey(key)
    const known = this.#places.get(name)
    if (known !== undefined) return known
    this.#places.set(name, this.#keys.length)
    return this.#keys.push(key) - 1
  }

  bytes(): Uint8Array {
    return join(this.#keys)
  }
}

function join(keys: readonly Pubkey[]): Uint8Array {
  const bytes = new Uint8Array(keys.length * 32)
  keys.forEach((key, place) => bytes.set(key, place * 32))
  return bytes
}

function writeBlock(writer: FactWriter, block: FactBlock, pool: KeyPool): void {
  writer.optional(block.slot)
  writer.optional(block.blockTime)
  writer.optional(block.parentSlot)
  writer.uint(block.votes)
  writer.list(block.facts, ({ transaction, loadedKeys, expected }) => {
    writeTransaction(writer, transaction, pool)
    writer.uint(loadedKeys)
    writer.text(expected)
  })
}

function readBlock(reader: FactReader, pool: ByteKeys): FactBlock {
  return {
    slot: reader.optional(),
    blockTime: reader.optional(),
    parentSlot: reader.optional(),
    votes: reader.uint(),
    facts: reader.list(() => ({
      transaction: readTransaction(reader, pool),
      loadedKeys: reader.uint(),
      expected: reader.text()
    }))
  }
}

function writeTransaction(writer: FactWriter, transaction: Transaction, pool: KeyPool): void {
  const keys = Array.from({ length: transaction.keys.length }, (_, index) => transaction.keys.bytes(index))
  const places: KeyPlaces = {
    placeOf: (key) => keys.findIndex((candidate) => pubkeyMapKey(candidate) === pubkeyMapKey(key)),
    keyAt: (place) => keys[place]!
  }
  const { logs, preBalances, postBalances } = transaction
  writer.raw(transaction.signature)
  writer.optional(transaction.index)
  writer.uint(VERSIONS.indexOf(transaction.version))
  writer.uint((transaction.failed ? 1 : 0) | (transaction.nestingKnown ? 2 : 0))
  writer.list(keys, (key) => writer.uint(pool.placeOf(key)))
  writer.uint(transaction.signerCount)
  writer.uint(transaction.feeLamports)
  writer.list(transaction.instructions, (instruction) => writeInstruction(writer, instruction))
  writer.uint(logs === null ? 0 : logs.length + 1)
  for (const line of logs ?? []) writeLogLine(writer, line, places)
  writer.list(transaction.preTokenBalances, (balance) => writeTokenBalance(writer, balance, pool))
  writer.list(transaction.postTokenBalances, (balance) => writeTokenBalance(writer, balance, pool))
  writer.list(preBalances, (lamports) => writer.uint(lamports))
  writer.uint(postBalances.length)
  postBalances.forEach((lamports, at) => writer.int(BigInt(lamports) - BigInt(preBalances[at] ?? 0)))
}

function readTransaction(reader: FactReader, pool: ByteKeys): Transaction {
  const signature = reader.raw(64)
  const index = reader.optional()
  const version = VERSIONS[reader.uint()]!
  const flags = reader.uint()
  const keys = new ByteKeys(join(reader.list(() => pool.bytes(reader.uint()))))
  const signerCount = reader.uint()
  const feeLamports = reader.bigUint()
  const instructions = reader.list(() => readInstruction(reader))
  const lines = reader.optional()
  const places: KeyPlaces = { placeOf: () => -1, keyAt: (place) => keys.bytes(place) }
  const logs = lines === null ? null : Array.from({ length: lines }, () => readLogLine(reader, places))
  const preTokenBalances = reader.list(() => readTokenBalance(reader, pool))
  const postTokenBalances = reader.list(() => readTokenBalance(reader, pool))
  const preBalances = reader.list(() => reader.uint())
  const postBalances = Array.from({ length: reader.uint() }, (_, at) =>
    Number(reader.int() + BigInt(preBalances[at] ?? 0))
  )
  return {
    signature,
    index,
    version,
    failed: (flags & 1) !== 0,
    keys,
    signerCount,
    feeLamports,
    instructions,
    nestingKnown: (flags & 2) !== 0,
    logs,
    preTokenBalances,
    postTokenBalances,
    preBalances,
    postBalances
  }
}

function writeInstruction(writer: FactWriter, instruction: Instruction): void {
  writer.uint(instruction.program)
  writer.sized(instruction.accounts)
  writer.sized(instruction.data)
  writer.uint(instruction.height)
  writer.uint(instruction.outerIndex)
  writer.optional(instruction.innerIndex)
}

function readInstruction(reader: FactReader): Instruction {
  return {
    program: reader.uint(),
    accounts: reader.sized(),
    data: reader.sized(),
    height: reader.uint(),
    outerIndex: reader.uint(),
    innerIndex: reader.optional()
  }
}

function writeTokenBalance(writer: FactWriter, balance: TokenBalance, pool: KeyPool): void {
  writer.uint(balance.account)
  writer.uint(pool.placeOf(balance.mint))
  writer.optional(balance.owner === null ? null : pool.placeOf(balance.owner))
  writer.uint(balance.amount)
  writer.uint(balance.decimals)
}

function readTokenBalance(reader: FactReader, pool: ByteKeys): TokenBalance {
  const account = reader.uint()
  const mint = pool.bytes(reader.uint())
  const owner = reader.optional()
  return {
    account,
    mint,
    owner: owner === null ? null : pool.bytes(owner),
    amount: reader.bigUint(),
    decimals: reader.uint()
  }
}
