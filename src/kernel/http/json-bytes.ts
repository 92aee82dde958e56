/** An answer that its endpoint has rendered itself: the bytes of a JSON text that fits its schema. */
export class JsonBytes {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}
