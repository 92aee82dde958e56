/** An answer that its endpoint has rendered itself: the bytes of a JSON text, as its schema describes. */
export class JsonBytes {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}
