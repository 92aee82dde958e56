import type { ChainEvent, Channel, PrivateChannel } from './events.ts'
import { WebhookVerificationError } from './webhook-error.ts'

export type * from './events.ts'
export { WebhookVerificationError } from './webhook-error.ts'

/** The event that the test endpoint sends. */
export interface TestEventData {
  readonly event: 'test'
  readonly webhook_id: number
  readonly message: string
  readonly ts_ms: number
}

/** An event of a delivery; `data` is as on the stream, with fields in snake_case. */
export type WebhookEvent =
  | { readonly channel: Exclude<Channel, PrivateChannel>; readonly data: ChainEvent['data'] }
  | { readonly channel: 'test'; readonly data: TestEventData }

/** A delivery. Deliveries of one webhook come in the order of cursors; a repeated one has its first `batch_id` and bytes. */
export interface WebhookBatch {
  readonly webhook_id: number
  readonly batch_id: string
  /** Unix milliseconds at which the batch was made. */
  readonly batch_ts: number
  readonly events: readonly WebhookEvent[]
  /** Cursor of the last event; omitted in a test. */
  readonly cursor?: number
  /** Number of events that were dropped before this batch; omitted if 0. */
  readonly dropped?: number
  /**
   * Events after `from_cursor` up to `to_cursor` that are no longer available and were not counted; omitted if no events
   * are missing.
   */
  readonly missed?: { readonly from_cursor: number; readonly to_cursor: number }
}

/** The methods of the Fetch API's `Headers` that are used. */
export interface FetchHeaders {
  readonly get: (name: string) => string | null
}

/** Headers as frameworks provide them: the Fetch API's, or an object by name in any case. */
export type WebhookHeaders = FetchHeaders | Readonly<Record<string, string | readonly string[] | undefined>>

/** Options of `verify`. */
export interface VerifyOptions {
  /** Seconds by which the sender's clock may differ from ours, and that a delivery may take; 300 by default. */
  readonly toleranceSeconds?: number
  /** The current time, in Unix milliseconds; the platform's by default. */
  readonly nowMs?: number
}

const PREFIX = 'whsec_'
const TOLERANCE_SECONDS = 300

const text = new TextEncoder()

/**
 * Verifies a delivery, and returns its batch. `rawBody` must be the received bytes, because parsed and serialized
 * JSON differs. Accepts the `webhook-signature` of Standard Webhooks, and `X-MR-Signature` if a proxy removed the
 * former. Signatures are compared in constant time. Works on Node 20 or later, Deno, Bun and workers.
 *
 * @throws WebhookVerificationError whose `code` and message state the fault
 */
export async function verify(
  headers: WebhookHeaders,
  rawBody: string | Uint8Array | ArrayBuffer,
  secret: string,
  { toleranceSeconds = TOLERANCE_SECONDS, nowMs = Date.now() }: VerifyOptions = {}
): Promise<WebhookBatch> {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array) && !(rawBody instanceof ArrayBuffer))
    throw new WebhookVerificationError(
      'invalid_body',
      'pass the raw body: its bytes or text before any JSON parser'
    )
  const body = bytesOf(rawBody)
  const header = headerReader(headers)
  const scheme = schemeOf(header, secret)
  checkTime(scheme.timeMs, toleranceSeconds, nowMs)
  const key = await crypto.subtle.importKey('raw', scheme.key, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify'
  ])
  const signed = joined(text.encode(scheme.prefix), body)
  // All signatures are checked, one after another: their number is not secret.
  let isSigned = false
  for (const signature of scheme.signatures)
    isSigned = (await crypto.subtle.verify('HMAC', key, signature, signed)) || isSigned
  if (!isSigned)
    throw new WebhookVerificationError(
      'signature_mismatch',
      'no signature fits: the secret is that of another webhook or was rotated, or the body was changed, as by a JSON parser'
    )
  return batchOf(body)
}

interface Scheme {
  readonly key: Uint8Array<ArrayBuffer>
  readonly timeMs: number
  /** Text that is signed before the body. */
  readonly prefix: string
  readonly signatures: readonly Uint8Array<ArrayBuffer>[]
}

type HeaderReader = (name: string) => string | null

/** Returns the signature scheme of the received headers. */
function schemeOf(header: HeaderReader, secret: string): Scheme {
  const bytes = secret.startsWith(PREFIX) ? fromBase64(secret.slice(PREFIX.length)) : null
  if (bytes === null || bytes.length === 0)
    throw new WebhookVerificationError('invalid_secret', `the secret is not ${PREFIX} and base64`)
  const standard = header('webhook-signature')
  if (standard !== null) {
    const id = needed(header, 'webhook-id')
    const timestamp = needed(header, 'webhook-timestamp')
    return {
      key: bytes,
      timeMs: timeOf('webhook-timestamp', timestamp) * 1_000,
      prefix: `${id}.${timestamp}.`,
      signatures: standard.split(' ').flatMap((each) => {
        const signature = each.startsWith('v1,') ? fromBase64(each.slice('v1,'.length)) : null
        return signature === null ? [] : [signature]
      })
    }
  }
  const own = needed(header, 'x-mr-signature', ' or webhook-signature')
  const timestamp = needed(header, 'x-mr-timestamp')
  return {
    key: text.encode(secret),
    timeMs: timeOf('x-mr-timestamp', timestamp),
    prefix: `${timestamp}.`,
    signatures: [
      own,
      header('x-mr-signature-previous') ?? '',
      ...(header('x-mr-signature-earlier') ?? '').split(',')
    ].flatMap((each) => {
      const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(each.trim()) ?? []
      return hex === undefined ? [] : [fromHex(hex)]
    })
  }
}

function headerReader(headers: WebhookHeaders): HeaderReader {
  if (isFetchHeaders(headers)) return (name) => headers.get(name)
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => {
    const value = byName.get(name)
    return (typeof value === 'object' ? value[0] : value) ?? null
  }
}

function isFetchHeaders(headers: WebhookHeaders): headers is FetchHeaders {
  return typeof headers.get === 'function'
}

function needed(header: HeaderReader, name: string, alternative = ''): string {
  const value = header(name)
  if (value !== null) return value
  throw new WebhookVerificationError('missing_header', `the header ${name}${alternative} is missing`)
}

function timeOf(name: string, value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value)
  throw new WebhookVerificationError('invalid_timestamp', `the header ${name} is not a time in digits`)
}

function checkTime(timeMs: number, toleranceSeconds: number, nowMs: number): void {
  const agoSeconds = Math.round((nowMs - timeMs) / 1_000)
  const tolerated = `${toleranceSeconds} s are tolerated`
  if (agoSeconds > toleranceSeconds)
    throw new WebhookVerificationError(
      'timestamp_too_old',
      `the delivery was signed ${agoSeconds} s ago and ${tolerated}: it is a replay, or a clock is wrong`
    )
  if (-agoSeconds > toleranceSeconds)
    throw new WebhookVerificationError(
      'timestamp_too_new',
      `the delivery was signed ${-agoSeconds} s in the future and ${tolerated}: a clock is wrong`
    )
}

function batchOf(body: Uint8Array): WebhookBatch {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as WebhookBatch
  } catch {
    throw new WebhookVerificationError('invalid_body', 'the body is signed, but is not JSON')
  }
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof body === 'string') return text.encode(body)
  return body instanceof Uint8Array ? body : new Uint8Array(body)
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => parseInt(hex.slice(2 * at, 2 * at + 2), 16))
}

function fromBase64(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}
