import type { Pubkey, PubkeyTable } from '../chain/pubkey.ts'
import type { AccountKeys } from '../chain/transaction.ts'
import type { ProtobufReader } from './protobuf.ts'

const KEY_BYTES = 32

/**
 * The keys of a transaction, by where they lie in the message of its block. A key is copied when it is first asked for:
 * rows and the market keep keys for long, and a view would keep the whole block with it.
 */
export class StreamedKeys implements AccountKeys {
  readonly length: number
  readonly #from: ProtobufReader
  readonly #static: readonly number[]
  readonly #loaded: readonly number[]
  readonly #copies: (Pubkey | undefined)[] = []

  /** Where 32 bytes each start: the static keys, and the loaded ones. */
  constructor(from: ProtobufReader, statics: readonly number[], loaded: readonly number[]) {
    this.#from = from
    this.#static = statics
    this.#loaded = loaded
    this.length = statics.length + loaded.length
  }

  bytes(index: number): Pubkey {
    return (this.#copies[index] ??= this.#copy(index))
  }

  lookup<T>(index: number, table: PubkeyTable<T>): T | undefined {
    return table.ofBytes(this.bytes(index))
  }

  #copy(index: number): Pubkey {
    const start = this.#static[index] ?? this.#loaded[index - this.#static.length]
    if (start === undefined) throw new RangeError(`no account ${index}`)
    return this.#from.copy(start, start + KEY_BYTES)
  }
}
