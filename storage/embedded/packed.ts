/**
 * A record's value as its bytes, for as long as nobody has asked for it. They are kept as a string, a character each: an
 * array of so few takes ten times as long to make, and its collection as well.
 */
export class Packed {
  readonly #latin1: string

  /** Copies the bytes. */
  constructor({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>) {
    this.#latin1 = Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
  }

  get length(): number {
    return this.#latin1.length
  }

  bytes(): Uint8Array {
    return Buffer.from(this.#latin1, 'latin1')
  }
}
