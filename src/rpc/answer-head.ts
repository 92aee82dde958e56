/** The head of a node's response, of the narrow form that `readAnswerHead` accepts. */
export interface AnswerHead {
  readonly status: number
  /** Field values by name in lower case. */
  readonly fields: Readonly<Record<string, string>>
  /** Bytes of the body; null for a refusal whose body is framed differently, and is not read. */
  readonly length: number | null
  /** Whether the connection may carry another request. */
  readonly isPersistent: boolean
}

const STATUS_LINE = /^HTTP\/1\.1 ([2-5]\d\d)(?: [\x20-\x7e]*)?$/
/** A field name is a token (RFC 9110, section 5.6.2); a value has visible characters, spaces and tabs. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?[ \t]*$/
const LENGTH = /^(?:0|[1-9]\d{0,14})$/
/** Statuses without a body whatever their fields say. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])
/** Statuses whose head alone counts: resending such a request would burden a node that refuses it. */
const isRefusal = (status: number): boolean =>
  status === 401 || status === 403 || status === 429 || status >= 500
/** Fields that change the framing of a body, or the protocol of the connection. */
const UNUSUAL_FIELDS: readonly string[] = ['transfer-encoding', 'trailer', 'upgrade']
const ENCODINGS: readonly (string | undefined)[] = [undefined, 'identity', 'gzip']

/**
 * Reads the head of a response to a POST, without the empty line at its end. Returns null for every head that is not of the
 * usual form: HTTP/1.1, one `Content-Length`, no other framing, no line folding, each field once. Such a response is handled
 * by a complete HTTP client.
 */
export function readAnswerHead(text: string): AnswerHead | null {
  const lines = text.split('\r\n')
  const status = Number(STATUS_LINE.exec(lines[0]!)?.[1])
  if (Number.isNaN(status) || BODILESS.has(status)) return null
  const fields: Record<string, string> = {}
  for (let at = 1; at < lines.length; at++) {
    const found = FIELD.exec(lines[at]!)
    if (found === null) return null
    const name = found[1]!.toLowerCase()
    // A repeated field may be a list.
    if (Object.hasOwn(fields, name)) return null
    fields[name] = found[2] ?? ''
  }
  const { 'content-length': length, 'content-encoding': encoding, connection = 'keep-alive' } = fields
  const isPersistent = connection.toLowerCase() === 'keep-alive'
  const isUsual =
    length !== undefined &&
    LENGTH.test(length) &&
    ENCODINGS.includes(encoding) &&
    UNUSUAL_FIELDS.every((name) => fields[name] === undefined) &&
    (isPersistent || connection.toLowerCase() === 'close')
  if (!isUsual) return isRefusal(status) ? bodiless(status, fields['retry-after']) : null
  return { status, fields, length: Number(length), isPersistent }
}

/** Returns the head of a refusal without the fields of its body. */
const bodiless = (status: number, retryAfter: string | undefined): AnswerHead => ({
  status,
  fields: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  length: null,
  isPersistent: false
})
