import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import { encodeBase58 } from '../chain/base58.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { AccountsPage, ProgramAccount } from '../../storage/port.ts'

export const ACCOUNT_ENCODINGS = ['base64', 'base58', 'base64+zstd'] as const
export type AccountEncoding = (typeof ACCOUNT_ENCODINGS)[number]
/** Maximum bytes that are encoded in base58, whose time is quadratic; also the limit of nodes (agave, MAX_BASE58_BYTES). */
export const BASE58_BYTES_MAX = 128

/** Sizes of the buffers of rows. Each is twice its predecessor, so that small answers take little memory. */
const CHUNK_BYTES = { first: 2 * 2 ** 10, most: 64 * 2 ** 10 } as const
/** Maximum data compressed concurrently, by threads that the store also needs. */
const COMPRESSED_AT_ONCE = 2

const compress = promisify(zstdCompress)

export interface AccountForm {
  readonly encoding: AccountEncoding
  readonly slice: { readonly offset: number; readonly length: number } | null
}

/** Returns the JSON text of an account. `address` and `data` are its texts, which need no escapes. */
export type RowText = (address: string, account: ProgramAccount, data: string) => string

/** Thrown for an account that has more bytes than base58 allows. */
export class TooLongForBase58 extends Error {
  readonly address: Pubkey

  constructor(address: Pubkey) {
    super(`an account has more than ${BASE58_BYTES_MAX} bytes`)
    this.address = address
  }
}

/** Rows of accounts as the bytes of a JSON list, without its brackets. */
export class AccountRows {
  readonly #form: AccountForm
  readonly #rowText: RowText
  readonly #full: Buffer[] = []
  #chunk: Buffer = Buffer.alloc(0)
  #used = 0
  #bytes = 0

  constructor(form: AccountForm, rowText: RowText) {
    this.#form = form
    this.#rowText = rowText
  }

  get bytes(): number {
    return this.#bytes
  }

  /** All rows, in pieces. */
  get pieces(): readonly Buffer[] {
    return [...this.#full, this.#chunk.subarray(0, this.#used)]
  }

  /** Adds accounts with the given texts of their data. Accounts whose text is null are left out. */
  addTexts(accounts: AccountsPage['accounts'], texts: readonly (string | null)[]): void {
    for (const [i, each] of accounts.entries()) if (texts[i] != null) this.#addRow(each, texts[i])
  }

  /** Adds accounts. Throws TooLongForBase58. Data is compressed by threads, so that the event loop is not blocked. */
  async add(accounts: AccountsPage['accounts']): Promise<void> {
    const { encoding } = this.#form
    if (encoding !== 'base64+zstd') {
      for (const each of accounts)
        this.#addRow(
          each,
          encoding === 'base64' ? base64(this.#sliceOf(each)) : base58(each.address, this.#sliceOf(each))
        )
      return
    }
    for (let from = 0; from < accounts.length; from += COMPRESSED_AT_ONCE) {
      const group = accounts.slice(from, from + COMPRESSED_AT_ONCE)
      const texts = await Promise.all(group.map(async (each) => base64(await compress(this.#sliceOf(each)))))
      for (const [i, each] of group.entries()) this.#addRow(each, texts[i]!)
    }
  }

  #sliceOf({ account: { data } }: AccountsPage['accounts'][number]): Uint8Array {
    const { slice } = this.#form
    return slice === null ? data : data.subarray(slice.offset, slice.offset + slice.length)
  }

  #addRow({ address, account }: AccountsPage['accounts'][number], data: string): void {
    // Not `pubkeyToBase58`: addresses of accounts rarely repeat, and would evict repeated ones from its cache.
    this.#write(this.#rowText(encodeBase58(address), account, data))
  }

  #write(row: string): void {
    const isFirst = this.#bytes === 0
    const bytes = row.length + (isFirst ? 0 : 1)
    if (this.#used + bytes > this.#chunk.length) {
      if (this.#used > 0) this.#full.push(this.#chunk.subarray(0, this.#used))
      const size = Math.min(Math.max(CHUNK_BYTES.first, 2 * this.#chunk.length), CHUNK_BYTES.most)
      this.#chunk = Buffer.allocUnsafeSlow(Math.max(size, bytes))
      this.#used = 0
    }
    if (!isFirst) this.#chunk[this.#used++] = COMMA
    this.#used += this.#chunk.write(row, this.#used, 'latin1')
    this.#bytes += bytes
  }
}

const COMMA = 44

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

function base58(address: Pubkey, bytes: Uint8Array): string {
  if (bytes.length > BASE58_BYTES_MAX) throw new TooLongForBase58(address)
  return encodeBase58(bytes)
}
