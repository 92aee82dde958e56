/** A subscription ended for good: a retry would fail again. */
export class StreamError extends Error {
  /** An error code of the service (`unknown_channel`, `stream_key_refused`, …), or `closed_4401` after a close. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'StreamError'
    this.code = code
  }
}
