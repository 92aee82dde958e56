import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../src/ports.ts'
import type { BlockStore } from '../../storage/port.ts'

/** Shortest interval of writes, in milliseconds. A service reopens the archive after each write, which takes it a moment. */
const STAMP_MS = 10_000

/** The file whose time tells services that blocks were imported. It holds the first and the last slot of the archive. */
export class ImportStamp {
  readonly #file: string
  readonly #blocks: Pick<BlockStore, 'head' | 'firstSince'>
  readonly #clock: Clock
  #writtenMs: number
  #writing: Promise<void> = Promise.resolve()

  constructor(file: string, blocks: Pick<BlockStore, 'head' | 'firstSince'>, clock: Clock) {
    this.#file = file
    this.#blocks = blocks
    this.#clock = clock
    this.#writtenMs = clock.now()
  }

  /** Writes the file if the last write is 10 s ago. A failed write is repeated by the next one. */
  committed(): void {
    const nowMs = this.#clock.now()
    if (nowMs - this.#writtenMs < STAMP_MS) return
    this.#writtenMs = nowMs
    this.#writing = this.#writing.then(() => this.write()).catch(() => undefined)
  }

  /** Replaces the file unless it is up to date. Rejects with the error of the file system or the store. */
  async write(): Promise<void> {
    const [head, first] = await Promise.all([this.#blocks.head(), this.#blocks.firstSince(0)])
    if (head === null) return
    const text = `${JSON.stringify({ first, last: head.slot })}\n`
    if ((await readFile(this.#file, 'utf8').catch(() => null)) === text) return
    await mkdir(dirname(this.#file), { recursive: true })
    await writeFile(`${this.#file}.part`, text)
    await rename(`${this.#file}.part`, this.#file)
  }

  /** Writes the file a last time. Rejects like `write`. */
  async close(): Promise<void> {
    await this.#writing
    await this.write()
  }
}
