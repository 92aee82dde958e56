import { ClassicLevel } from 'classic-level'
import { z } from 'zod'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { formatRefusal } from '../../kernel/format-refusal.ts'
import type { LocalAccount } from '../chain.ts'
import { packAccount, readPackedBlock, unpackAccount } from './block-records.ts'
import type { PackedBlock } from './block-records.ts'
import type { SettledSlots } from './retained-blocks.ts'

/** The format of the chain's store. */
export const LOCALNET_FORMAT = 1
const WRITE_BUFFER_BYTES = 4 * 2 ** 20
const CACHE_BYTES = 2 * 2 ** 20
/**
 * Dropped slots after which their disk space is reclaimed. Compacting that many takes a tenth of a second, off the main
 * thread. Fewer would repeat the compaction often, more would leave dead data on disk.
 */
const DROPPED_MAX = 300

const headSchema = z.strictObject({
  format: z.literal(LOCALNET_FORMAT),
  genesisHash: z.hex().length(64),
  firstSlot: z.int().min(0),
  confirmed: z.int().min(0),
  finalized: z.int().min(0)
})

/** All changes of one slot on disk. */
export interface SlotWrite {
  readonly genesisHash: Uint8Array
  /** New blocks, oldest first: two where one replaces another and the next follows at once. */
  readonly blocks: readonly {
    readonly packed: PackedBlock
    readonly accounts: readonly LocalAccount[]
    /** The accounts together, packed. */
    readonly packedAccounts: Uint8Array
  }[]
  /** Notes of the market by name; null deletes one. */
  readonly notes: ReadonlyMap<string, Uint8Array | null>
  /** Slots whose blocks are removed, because they are old or on a lost fork. */
  readonly dropped: readonly number[]
  /** Slots whose changed accounts are no longer needed. */
  readonly finalized: readonly number[]
  readonly firstSlot: number
  readonly settled: SettledSlots
}

/** The stored state of a chain. */
export interface StoredChain {
  readonly genesisHash: Uint8Array
  readonly firstSlot: number
  readonly settled: SettledSlots
  readonly accounts: readonly LocalAccount[]
  readonly notes: ReadonlyMap<string, Uint8Array>
}

/** Receives a stored block, and its packed accounts; null for a finalized block. */
export type TakeBlock = (packed: PackedBlock, accounts: Uint8Array | null) => void

/** Storage of a chain. */
export interface ChainStore {
  /** Reads the chain, and its blocks one by one, oldest first; null on an empty store. */
  load(take: TakeBlock): Promise<StoredChain | null>
  /** Resolves when the slot is on disk. Writes must not overlap. */
  write(slot: SlotWrite): Promise<void>
  /** Reads the record of a finalized block that was not dropped. Takes about 50 µs. */
  block(slot: number): Uint8Array
  close(): Promise<void>
}

type Level = ClassicLevel<Buffer, Uint8Array>

/**
 * The chain on disk. Each slot is one synced batch of LevelDB. LevelDB has checksums and drops a batch whose last
 * bytes are missing, so a killed process leaves complete slots.
 *
 * Disk: retained blocks (about 2 KB a transaction before compression), every account once with about 100 bytes more, and
 * up to as much again until the engine has compacted. The engine hardly compacts the range of dropped blocks by itself,
 * because nothing is written there, so compaction is requested.
 */
export class BankStore implements ChainStore {
  readonly #level: Level
  readonly #directory: string
  #dropped = 0
  /** The block that was read last: its transactions are often read one by one. */
  #read: { readonly slot: number; readonly bytes: Uint8Array } | null = null
  /** The compaction in progress; slots are written meanwhile. */
  #clearing: Promise<void> = Promise.resolve()

  private constructor(level: Level, directory: string) {
    this.#level = level
    this.#directory = directory
  }

  /** Opens a store. Throws a ServiceError that names the directory if the store is in use or cannot be read. */
  static async open(directory: string): Promise<BankStore> {
    const level: Level = new ClassicLevel(directory, {
      keyEncoding: 'buffer',
      valueEncoding: 'view',
      writeBufferSize: WRITE_BUFFER_BYTES,
      cacheSize: CACHE_BYTES
    })
    try {
      await level.open()
    } catch (error) {
      throw openFailure(directory, error)
    }
    return new BankStore(level, directory)
  }

  async load(take: TakeBlock): Promise<StoredChain | null> {
    const head = await this.#level.get(HEAD_KEY)
    if (head === undefined) return null
    const { genesisHash, firstSlot, confirmed, finalized } = this.#readHead(head)
    const changed = new Map<number, Uint8Array>()
    for await (const [key, bytes] of this.#range('c')) changed.set(slotOf(key), bytes)
    for await (const [key, bytes] of this.#range('b'))
      take(readPackedBlock(bytes), changed.get(slotOf(key)) ?? null)
    const accounts: LocalAccount[] = []
    for await (const [, bytes] of this.#range('a')) accounts.push(unpackAccount(bytes))
    const notes = new Map<string, Uint8Array>()
    for await (const [key, bytes] of this.#range('n')) notes.set(key.subarray(1).toString(), bytes)
    const settled = { confirmed, finalized }
    return { genesisHash: Uint8Array.fromHex(genesisHash), firstSlot, settled, accounts, notes }
  }

  #readHead(head: Uint8Array): z.infer<typeof headSchema> {
    const what = `the localnet's chain in ${this.#directory}`
    try {
      const stored: unknown = JSON.parse(decoder.decode(head))
      const { format } = z.object({ format: z.number() }).parse(stored)
      if (format > LOCALNET_FORMAT)
        throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, formatRefusal(what, format, LOCALNET_FORMAT))
      return headSchema.parse(stored)
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause
      const detail = `${what} is of a format that this version does not know`
      throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, detail, { cause })
    }
  }

  async write(slot: SlotWrite): Promise<void> {
    const batch = this.#level.batch()
    for (const gone of slot.dropped) batch.del(slotKey('b', gone)).del(slotKey('c', gone))
    for (const { packed, accounts, packedAccounts } of slot.blocks) {
      batch.put(slotKey('b', packed.header.slot), packed.bytes)
      batch.put(slotKey('c', packed.header.slot), packedAccounts)
      for (const account of accounts) {
        if (account.lamports === 0n) batch.del(accountKey(account.address))
        // The engine copies the bytes at once.
        else batch.put(accountKey(account.address), packAccount(account))
      }
    }
    for (const old of slot.finalized) batch.del(slotKey('c', old))
    for (const [name, note] of slot.notes) {
      if (note === null) batch.del(noteKey(name))
      else batch.put(noteKey(name), note)
    }
    const { firstSlot, settled } = slot
    const head = { format: LOCALNET_FORMAT, genesisHash: slot.genesisHash.toHex(), firstSlot, ...settled }
    batch.put(HEAD_KEY, encoder.encode(JSON.stringify(head)))
    await batch.write({ sync: true })
    this.#dropped += slot.dropped.length
    if (this.#dropped < DROPPED_MAX) return
    this.#dropped = 0
    // At most one compaction at a time. After a failed one, the chain can no longer be written.
    await this.#clearing
    this.#clearing = this.#clear(slot.firstSlot)
    this.#clearing.catch(() => undefined)
  }

  block(slot: number): Uint8Array {
    if (this.#read?.slot === slot) return this.#read.bytes
    const bytes = this.#level.getSync(slotKey('b', slot))
    if (bytes === undefined) throw new RangeError(`the chain has no block of slot ${slot}`)
    this.#read = { slot, bytes }
    return bytes
  }

  async #clear(firstSlot: number): Promise<void> {
    for (const kind of ['b', 'c'] as const) {
      await this.#level.compactRange(slotKey(kind, 0), slotKey(kind, firstSlot), { keyEncoding: 'buffer' })
    }
  }

  async close(): Promise<void> {
    await this.#clearing.catch(() => undefined)
    await this.#level.close()
  }

  #range(kind: string): AsyncIterable<[Buffer, Uint8Array]> {
    const end = String.fromCharCode(kind.charCodeAt(0) + 1)
    return this.#level.iterator({ gte: Buffer.from(kind), lt: Buffer.from(end) })
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const HEAD_KEY = Buffer.from('h')

/** Returns a slot's key; padded, so that keys sort like slots. */
const slotKey = (kind: 'b' | 'c', slot: number): Buffer => Buffer.from(kind + String(slot).padStart(16, '0'))
const slotOf = (key: Buffer): number => Number(key.toString('latin1', 1))
const accountKey = (address: Uint8Array): Buffer => Buffer.concat([Buffer.from('a'), address])
const noteKey = (name: string): Buffer => Buffer.from(`n${name}`)

function openFailure(directory: string, cause: unknown): ServiceError {
  const reason = cause instanceof Error ? (cause.cause as NodeJS.ErrnoException | undefined) : undefined
  const detail =
    reason?.code === 'LEVEL_LOCKED'
      ? `the localnet's chain in ${directory} is open already`
      : `the localnet's chain in ${directory} cannot be opened: ${reason?.message ?? String(cause)}`
  return new ServiceError(ERRORS.STORAGE_UNAVAILABLE, detail, { cause })
}
