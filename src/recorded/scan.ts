import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeBase58 } from '../chain/base58.ts'
import type { RpcBlock } from '../chain/rpc/block.ts'
import { isVoteTransaction, type TransactionOutcome } from '../chain/rpc/transaction.ts'
import { strayBlocks, type ChainedSlot } from './chains.ts'
import { formatOf, listFiles, openBytes, readText } from './files.ts'
import { blockFingerprint } from './fingerprint.ts'
import { readLines } from './lines.ts'
import { readRecordText, RecordLoader, type RecordPlace, type TextOutcome } from './loader.ts'
import { ProblemTally, type ProblemReason, type RecordedProblem } from './problems.ts'

/** A transaction recorded on its own. */
export interface SingleRecord {
  readonly place: RecordPlace
  /** Position in the block; null if no record states it. */
  readonly index: number | null
  readonly parsed: boolean
}

/** The records of one slot: a whole block, or single transactions in order of their files. */
export interface RecordedSlot extends ChainedSlot {
  /** Unix seconds; for single transactions, that of the first. */
  readonly blockTime: number
  readonly block: RecordPlace | null
  readonly singles: ReadonlyMap<string, SingleRecord>
}

/** The index of a folder, without contents: about 480 bytes of memory per record. */
export interface RecordedIndex {
  /** `empty`: no readable record; `not-a-directory`: the folder cannot be opened. */
  readonly kind: 'indexed' | 'empty' | 'not-a-directory'
  readonly directory: string
  /** Slots in ascending order. */
  readonly slots: readonly number[]
  readonly bySlot: ReadonlyMap<number, RecordedSlot>
  readonly files: number
  /** Number of records that repeat a block or transaction of another record. */
  readonly repeated: number
  /** Number of votes among single transactions; blocks count their own votes. */
  readonly votes: number
  readonly problems: ProblemTally
  readonly recordBytesMax: number
}

export interface ScanOptions {
  /** Called for the first few problems of each reason. */
  readonly onProblem?: (problem: RecordedProblem) => void
  /** Collects the problems; replaces a tally with `onProblem`. */
  readonly problems?: ProblemTally
  /** Maximum size of one decompressed record, in bytes. A mainnet block of 2026 has 5 to 15 million. */
  readonly recordBytesMax?: number
  /** Maximum number of records in the index. */
  readonly recordsMax?: number
  /** Tells whether a file, by its path below the folder, may have blocks. Default: every file. */
  readonly accepts?: (file: string) => boolean
  /** Ends the scan at the next record; the index then holds the records found so far. */
  readonly signal?: AbortSignal
}

const RECORD_BYTES_MAX = 256 * 1024 * 1024
const RECORDS_MAX = 1_000_000

/**
 * Makes the first pass over a recorded folder: reads every record once to learn its slot and whether it can be read,
 * and stores only its place. Holds one record in memory at a time. Never rejects because of the folder's contents.
 */
export async function scanRecorded(directory: string, options: ScanOptions = {}): Promise<RecordedIndex> {
  const isDirectory = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false
  )
  const { accepts = () => true } = options
  const scan = new Scan(directory, options)
  const files = isDirectory
    ? (await listFiles(directory, (path, error) => scan.missDirectory(path, error))).filter(accepts)
    : []
  for (const file of files) {
    if (options.signal?.aborted === true) break
    await scan.readFile(file)
  }
  await scan.close()
  const slots = scan.takeOneChain()
  return {
    kind: !isDirectory ? 'not-a-directory' : slots.length === 0 ? 'empty' : 'indexed',
    directory,
    slots,
    bySlot: scan.bySlot,
    files: files.length,
    repeated: scan.repeated,
    votes: scan.votes,
    problems: scan.problems,
    recordBytesMax: scan.recordBytesMax
  }
}

interface OpenSlot extends RecordedSlot {
  blockTime: number
  parentSlot: number | null
  blockhash: string | null
  parentBlockhash: string | null
  block: RecordPlace | null
  readonly singles: Map<string, SingleRecord>
}

class Scan {
  readonly bySlot = new Map<number, OpenSlot>()
  readonly problems: ProblemTally
  readonly recordBytesMax: number
  repeated = 0
  votes = 0
  readonly #directory: string
  readonly #recordsMax: number
  /** Slot by signature, for single transactions. */
  readonly #slotOf = new Map<string, number>()
  readonly #loader: RecordLoader
  readonly #signal: AbortSignal | undefined
  #records = 0

  constructor(directory: string, options: ScanOptions) {
    this.#directory = directory
    this.problems = options.problems ?? new ProblemTally(options.onProblem)
    this.recordBytesMax = options.recordBytesMax ?? RECORD_BYTES_MAX
    this.#recordsMax = options.recordsMax ?? RECORDS_MAX
    this.#loader = new RecordLoader(directory, this.recordBytesMax)
    this.#signal = options.signal
  }

  async close(): Promise<void> {
    await this.#loader.close()
  }

  /** Removes blocks that are not of the folder's chain; returns all other slots, ascending. */
  takeOneChain(): readonly number[] {
    const slots = [...this.bySlot].flatMap(([slot, { block, singles }]) =>
      block === null && singles.size === 0 ? [] : [slot]
    )
    slots.sort((a, b) => a - b)
    for (const { slot, contradicts } of strayBlocks(slots, this.bySlot)) {
      const detail = `slot ${slot} is not of the chain of slot ${contradicts}, which more blocks here are of`
      this.#report('other-chain', detail, this.bySlot.get(slot)!.block!)
      this.bySlot.delete(slot)
    }
    return slots.filter((slot) => this.bySlot.has(slot))
  }

  /** Records a directory whose files cannot be listed. */
  missDirectory(path: string, error: Error): void {
    this.#report('unreadable-file', error.message, { file: path === '' ? '.' : path, line: null })
  }

  async readFile(file: string): Promise<void> {
    const format = formatOf(file)
    if (format === null) {
      this.#report('other-file', 'not .json or .ndjson, plain, .gz or .zst', { file, line: null })
      return
    }
    const bytes = openBytes(join(this.#directory, file), format.compression)
    try {
      if (!format.lines) {
        await this.#consider({ file, line: null }, await readText(bytes, this.recordBytesMax))
        return
      }
      for await (const { text, ...line } of readLines(bytes, this.recordBytesMax)) {
        if (this.#signal?.aborted === true) return
        await this.#consider({ file, line }, text)
      }
    } catch (error) {
      this.#report('unreadable-file', messageOf(error), { file, line: null })
    }
  }

  async #consider(place: RecordPlace, text: string | null): Promise<void> {
    if (text === null) {
      this.#report('too-large', `more than ${this.recordBytesMax} bytes`, place)
      return
    }
    const outcome = readRecordText(text, place.file)
    if (outcome.kind === 'block') await this.#addBlock(place, outcome.block)
    else if (outcome.kind === 'transaction') this.#addSingle(place, outcome)
    else this.#report(...faultOf(outcome), place)
  }

  async #addBlock(place: RecordPlace, block: RpcBlock): Promise<void> {
    if (!this.#isPlaced(place, block)) return
    const slot = this.#slot(block.slot, block.blockTime)
    if (slot.block !== null) {
      if (await this.#isSame(slot.block, block)) this.repeated++
      else this.#report('slot-twice', `slot ${block.slot} is different in ${slot.block.file}`, place)
      return
    }
    const { parentSlot } = block
    if (parentSlot !== null && parentSlot >= block.slot && block.slot > 0) {
      // Occurs when files are named by block height, or by the number of another slot.
      this.#report('out-of-range', `parentSlot ${parentSlot} is not below slot ${block.slot}`, place)
      return
    }
    if (!this.#hasRoom(place)) return
    for (const { index, reason } of block.unreadable) {
      this.#report('unreadable-transaction', `transaction ${index}: ${reason}`, place)
    }
    this.repeated += slot.singles.size
    slot.singles.clear()
    slot.block = place
    slot.blockTime = block.blockTime
    slot.parentSlot = parentSlot
    slot.blockhash = block.blockhash ?? null
    slot.parentBlockhash = block.parentBlockhash ?? null
  }

  #addSingle(place: RecordPlace, outcome: TransactionOutcome & { kind: 'transaction' }): void {
    if (isVoteTransaction(outcome.transaction)) {
      this.votes++
      return
    }
    if (!this.#isPlaced(place, outcome)) return
    const { index } = outcome.transaction
    const signature = encodeBase58(outcome.transaction.signature)
    const known = this.#slotOf.get(signature)
    const slot = this.#slot(known ?? outcome.slot, outcome.blockTime)
    const earlier = slot.singles.get(signature)
    if (earlier !== undefined) {
      this.repeated++
      // The lossless one of two records is used; the position may come from either.
      const better = earlier.parsed && !outcome.parsed ? { place, parsed: false } : earlier
      slot.singles.set(signature, { ...better, index: earlier.index ?? index })
    } else if (slot.block !== null) {
      this.repeated++
    } else if (this.#hasRoom(place)) {
      this.#slotOf.set(signature, outcome.slot)
      slot.singles.set(signature, { place, index, parsed: outcome.parsed })
    }
  }

  /** Returns whether a record has a slot and a time; reports it otherwise. */
  #isPlaced<T extends { slot: number | null; blockTime: number | null }>(
    place: RecordPlace,
    record: T
  ): record is T & { slot: number; blockTime: number } {
    if (record.slot === null)
      this.#report('no-slot', 'neither the record nor the file name has a slot', place)
    else if (record.blockTime === null) this.#report('no-block-time', `slot ${record.slot}`, place)
    else return true
    return false
  }

  #hasRoom(place: RecordPlace): boolean {
    if (this.#records < this.#recordsMax) {
      this.#records++
      return true
    }
    this.#report('too-many-records', `more than ${this.#recordsMax}`, place)
    return false
  }

  /** Returns whether a block's content equals that of the record at an earlier place. */
  async #isSame(place: RecordPlace, block: RpcBlock): Promise<boolean> {
    const earlier = await this.#loader.load(place, {}).catch(() => null)
    return earlier?.kind === 'block' && blockFingerprint(earlier.block) === blockFingerprint(block)
  }

  #report(reason: ProblemReason, detail: string, { file, line }: RecordPlace): void {
    this.problems.add({ reason, file, line: line?.number ?? null, detail })
  }

  #slot(number: number, blockTime: number): OpenSlot {
    let slot = this.bySlot.get(number)
    if (slot === undefined) {
      const unknown = { parentSlot: null, blockhash: null, parentBlockhash: null }
      slot = { blockTime, ...unknown, block: null, singles: new Map() }
      this.bySlot.set(number, slot)
    }
    return slot
  }
}

function faultOf(
  outcome: Exclude<TextOutcome, { kind: 'block' | 'transaction' }>
): [reason: ProblemReason, detail: string] {
  switch (outcome.kind) {
    case 'not-json':
      return ['not-json', outcome.detail]
    case 'other':
      return ['neither-block-nor-transaction', 'JSON of another shape']
    case 'absent':
      return ['no-result', 'the result is null']
    case 'rpc-error':
      return ['rpc-error', `${outcome.code ?? 'no code'}: ${outcome.message}`]
    case 'unreadable':
      return [outcome.isOutOfRange === true ? 'out-of-range' : 'unreadable-record', outcome.reason]
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
