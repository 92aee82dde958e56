import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Refusal } from '../rows/row-refusal.ts'

/** Maximum bytes of the file: 500,000 refusals. Further ones are only counted. */
const BYTES_MAX = 100 * 2 ** 20
/** Bytes that are written at once. */
const CHUNK_BYTES = 64 * 2 ** 10

/** A file with a line for each refused row, as a JSON object. It is made with the first refusal. */
export class RefusedFile {
  readonly path: string
  /** Bytes that belong to what was read before an interruption. */
  #bytes: number
  #file: number | null = null
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** Refusals beyond the limit. */
  leftOut = 0

  constructor(path: string, bytes: number) {
    this.path = path
    this.#bytes = bytes
  }

  /** Bytes of the file; 0 if there are no refusals. */
  get bytes(): number {
    return this.#bytes + this.#pendingBytes
  }

  add({ reason, detail, file, line, rowGroup }: Refusal): void {
    const text = JSON.stringify({ file, line, row_group: rowGroup, reason, detail })
    const bytes = Buffer.from(`${text}\n`)
    if (this.bytes + bytes.length > BYTES_MAX) {
      this.leftOut++
      return
    }
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    if (this.#pendingBytes >= CHUNK_BYTES) this.flush()
  }

  /** Writes what was added. Throws the error of the file system. */
  flush(): void {
    if (this.#pendingBytes === 0) return
    if (this.#file === null) {
      mkdirSync(dirname(this.path), { recursive: true })
      this.#file = openSync(this.path, this.#bytes === 0 ? 'w' : 'r+')
      ftruncateSync(this.#file, this.#bytes)
    }
    writeSync(this.#file, Buffer.concat(this.#pending), 0, this.#pendingBytes, this.#bytes)
    this.#bytes += this.#pendingBytes
    this.#pending = []
    this.#pendingBytes = 0
  }

  close(): void {
    this.flush()
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}
