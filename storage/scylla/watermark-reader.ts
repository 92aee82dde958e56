import type { CqlClient, CqlRow } from './client.ts'
import { readJournal } from './journal-rows.ts'
import type { Visibility } from './visibility.ts'
import { selectEpochs, watermarksOf } from './watermark.ts'

/** Reads the watermarks of the cluster, and the blocks that this process lacks up to them. */
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

  /** Applies the state given by rows of the watermarks, after reading the missing blocks. */
  async take(rows: readonly CqlRow[], readEach: CqlClient['readEach']): Promise<void> {
    const next = watermarksOf(rows, this.#visibility.known)
    const missing = this.#visibility.missing(next)
    this.#visibility.advance(next, await readJournal(missing, next.committed, readEach))
  }

  #run(): Promise<void> {
    const run = this.#read().finally(() => (this.#running = null))
    return (this.#running = run)
  }

  async #read(): Promise<void> {
    const client = this.#client
    const { statement, params } = selectEpochs(this.#visibility.committed.epoch)
    await this.take(await client.read(statement, params), (...read) => client.readEach(...read))
  }
}
