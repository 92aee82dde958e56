import type { CqlClient, CqlRow } from './client.ts'
import { readJournal, unreadMemtableBlock } from './journal-rows.ts'
import type { MemtableBlock } from './memtable.ts'
import type { Visibility, Watermarks } from './visibility.ts'
import { selectEpochs, watermarksOf } from './watermark.ts'

/**
 * Milliseconds after a tenant's query of rows for which each block is read at once. A gateway with any client that polls is
 * within it, so that only a client of a gateway without others waits for blocks to be read.
 */
const QUERIED_MS = 60_000

/**
 * Reads the watermarks of the cluster, and the blocks that this process lacks up to them.
 *
 * R1. Of the newest block, only the slot is read, which the watermark has. Its digest and rows are read when something needs
 *     them (`MemtableBlock.read`): while nobody queries a process, it reads no block.
 * R2. While tenants query rows, each block is read at once, so that no query waits for it.
 * R3. A claimant reads all blocks, because it writes them to the tables.
 */
export class WatermarkReader {
  readonly #client: CqlClient
  readonly #visibility: Visibility
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null

  constructor(client: CqlClient, visibility: Visibility) {
    this.#client = client
    this.#visibility = visibility
  }

  /**
   * Once it resolves, all commits before the call are known. Calls that come during a read share the next one. If the read
   * in flight fails, they reject with it, so that no caller waits for the time limits of two reads.
   */
  refresh(): Promise<void> {
    if (this.#running === null) return this.#run()
    return (this.#next ??= this.#running.finally(() => (this.#next = null)).then(() => this.#run()))
  }

  /** Applies the state given by rows of the watermarks for a claimant, after reading all blocks (R3). */
  async take(rows: readonly CqlRow[], readEach: CqlClient['readEach']): Promise<void> {
    const visibility = this.#visibility
    const next = watermarksOf(rows, visibility.known)
    const missing = visibility.missing(next)
    visibility.advance(next, await readJournal(missing, next.committed, readEach))
    await visibility.memtable.readBy(readEach)
  }

  #run(): Promise<void> {
    const run = this.#read().finally(() => (this.#running = null))
    return (this.#running = run)
  }

  async #read(): Promise<void> {
    const client = this.#client
    const { statement, params } = selectEpochs(this.#visibility.committed.epoch)
    const visibility = this.#visibility
    const next = watermarksOf(await client.read(statement, params), visibility.known)
    visibility.advance(next, await this.#missing(next))
  }

  async #missing(next: Watermarks): Promise<MemtableBlock[]> {
    const client = this.#client
    const { committed } = next
    const missing = this.#visibility.missing(next)
    const newest = missing.at(-1)
    const { head, epoch, lastCommit } = committed
    const isUnread =
      head !== null && newest === lastCommit && client.now() - this.#visibility.queriedAtMs >= QUERIED_MS
    const blocks = await readJournal(isUnread ? missing.slice(0, -1) : missing, committed, (...read) =>
      client.readEach(...read)
    )
    if (isUnread) blocks.push(unreadMemtableBlock({ epoch, number: lastCommit }, head, committed, client))
    return blocks
  }
}
