const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Reads Borsh strings one after another: u32 length, then UTF-8. */
export class BorshText {
  offset: number
  readonly #data: Uint8Array
  readonly #view: DataView

  constructor(data: Uint8Array, offset: number) {
    this.#data = data
    this.#view = new DataView(data.buffer, data.byteOffset, data.byteLength)
    this.offset = offset
  }

  /** Returns the next string without its NUL padding; null if the data ends inside it, or is not UTF-8. */
  text(): string | null {
    const start = this.offset + 4
    if (start > this.#data.length) return null
    const end = start + this.#view.getUint32(this.offset, true)
    if (end > this.#data.length) return null
    this.offset = end
    try {
      return UTF8.decode(this.#data.subarray(start, end)).replace(/\0+$/, '')
    } catch {
      return null
    }
  }
}
