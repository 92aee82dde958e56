import { findingText } from './finding.ts'
import type { Finding } from './finding.ts'
import type { HotValues } from './hot-values.ts'
import { keyText } from './keys.ts'
import type { Key } from './keys.ts'
import { packRecord, unpackRecord } from './record.ts'
import type { RecordKind } from './record.ts'

type Operation =
  | { readonly type: 'put'; readonly key: Key; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: Key }

/** Records to be written together, as bytes for the engine and as values for memory. */
export class WriteBatch {
  readonly operations: Operation[] = []
  /** What memory is to hold, in order; undefined for nothing. */
  readonly #values: { readonly text: string; readonly value: unknown; readonly bytes: number }[] = []

  /** A caller's value: memory keeps what the bytes give back, which holds on to no buffer of a block. */
  put<T>(kind: RecordKind<T>, key: Key, value: T): void {
    const bytes = this.#write(kind, key, value)
    this.#hold(key, unpackRecord(kind, key, bytes), kind.weigh(value))
  }

  /** A value of our own making, kept in memory as it is. */
  putOwned<T>(kind: RecordKind<T>, key: Key, value: T): void {
    this.#write(kind, key, value)
    this.#hold(key, value, kind.weigh(value))
  }

  /** A value that nobody asks for by its key soon: memory forgets what it had there. */
  putUnkept<T>(kind: RecordKind<T>, key: Key, value: T): void {
    this.#write(kind, key, value)
    this.#hold(key, undefined, 0)
  }

  delete(key: Key): void {
    this.operations.push({ type: 'del', key })
    this.#hold(key, null, 0)
  }

  /** What memory is to hold of a finding once the batch is visible, undefined for nothing; no byte is written. */
  remember<T>(finding: Finding<T>, key: Key, value: T | undefined): void {
    const bytes = value === undefined ? 0 : finding.weigh(value)
    this.#values.push({ text: findingText(finding, key), value, bytes })
  }

  /** Puts into memory what the batch put on disk. */
  warm(hot: HotValues): void {
    for (const { text, value, bytes } of this.#values) {
      if (value === undefined) hot.delete(text)
      else hot.set(text, value, bytes)
    }
  }

  #write<T>(kind: RecordKind<T>, key: Key, value: T): Uint8Array {
    const bytes = packRecord(kind, key, value)
    this.operations.push({ type: 'put', key, value: bytes })
    return bytes
  }

  #hold(key: Key, value: unknown, bytes: number): void {
    this.#values.push({ text: keyText(key), value, bytes })
  }
}
