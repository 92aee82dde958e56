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
  readonly #values: { readonly text: string; readonly value: unknown; readonly bytes: number }[] = []

  /** A caller's value: memory keeps what the bytes give back, which holds on to no buffer of a block. */
  put<T>(kind: RecordKind<T>, key: Key, value: T): void {
    const bytes = packRecord(kind, key, value)
    this.#add(kind, key, bytes, unpackRecord(kind, key, bytes))
  }

  /** A value of our own making, kept in memory as it is. */
  putOwned<T>(kind: RecordKind<T>, key: Key, value: T): void {
    this.#add(kind, key, packRecord(kind, key, value), value)
  }

  delete(key: Key): void {
    this.operations.push({ type: 'del', key })
    this.#values.push({ text: keyText(key), value: null, bytes: 0 })
  }

  /** Puts into memory what the batch put on disk. */
  warm(hot: HotValues): void {
    for (const { text, value, bytes } of this.#values) hot.set(text, value, bytes)
  }

  #add<T>(kind: RecordKind<T>, key: Key, bytes: Uint8Array, value: T): void {
    this.operations.push({ type: 'put', key, value: bytes })
    this.#values.push({ text: keyText(key), value, bytes: kind.weigh(value) })
  }
}
