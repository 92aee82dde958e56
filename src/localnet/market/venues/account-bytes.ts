/** An account of a fixed size: a discriminator, and what the published layouts document of it; the rest is zero. */
export class AccountBytes {
  readonly bytes: Uint8Array
  readonly #view: DataView

  constructor(size: number, discriminatorHex = '') {
    this.bytes = new Uint8Array(size)
    this.bytes.set(Uint8Array.fromHex(discriminatorHex))
    this.#view = new DataView(this.bytes.buffer)
  }

  u8(offset: number, value: number): this {
    this.#view.setUint8(offset, value)
    return this
  }

  u16(offset: number, value: number): this {
    this.#view.setUint16(offset, value, true)
    return this
  }

  u32(offset: number, value: number): this {
    this.#view.setUint32(offset, value, true)
    return this
  }

  i32(offset: number, value: number): this {
    this.#view.setInt32(offset, value, true)
    return this
  }

  u64(offset: number, value: bigint): this {
    this.#view.setBigUint64(offset, value, true)
    return this
  }

  u128(offset: number, value: bigint): this {
    this.#view.setBigUint64(offset, value, true)
    this.#view.setBigUint64(offset + 8, value >> 64n, true)
    return this
  }

  key(offset: number, value: Uint8Array): this {
    this.bytes.set(value, offset)
    return this
  }
}
