/** An untrusted delivery, or an invalid secret. Answer such a delivery with 400; the service then repeats it. */
export class WebhookVerificationError extends Error {
  readonly code:
    | 'invalid_secret'
    | 'missing_header'
    | 'invalid_timestamp'
    | 'timestamp_too_old'
    | 'timestamp_too_new'
    | 'signature_mismatch'
    | 'invalid_body'

  constructor(code: WebhookVerificationError['code'], message: string) {
    super(message)
    this.name = 'WebhookVerificationError'
    this.code = code
  }
}
