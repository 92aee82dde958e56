/**
 * A record's value as its bytes, until it is first read. They are stored as a string, a character a byte: for so few bytes
 * an array takes ten times as long to create and to collect.
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
