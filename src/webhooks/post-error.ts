import type { PostOutcome } from './webhook.ts'
import { AddressRefused, HostUnresolved } from './url-guard.ts'

/** Reasons why a POST was not answered, by the word in the list of deliveries. */
export const POST_ERRORS = {
  timeout: 'no whole answer came within 10 s',
  url_not_allowed: 'the host resolves to an address that is not public',
  dns_failed: 'the host name could not be resolved',
  connection_refused: 'nothing listens on the port',
  connection_reset: 'the connection ended before the answer was whole',
  host_unreachable: 'no route leads to the host',
  tls_failed: 'the certificate is not valid for the host, or the TLS handshake failed',
  invalid_response: 'the answer is not HTTP, or its length is not the stated one',
  too_many_posts: 'too many POSTs of the tenant wait already, or a test event has waited 15 s',
  aborted: 'the service stopped, or the webhook was changed or deleted, during the POST',
  connection_failed: 'the connection failed for another reason'
} as const
export type PostError = keyof typeof POST_ERRORS

/** Returns the error of a POST by its status or its word; null for a 2xx. An error has one name everywhere: `status_500`. */
export function outcomeError(outcome: PostOutcome): string | null {
  if (outcome.kind === 'failed') return outcome.error
  return outcome.status >= 200 && outcome.status < 300 ? null : `status_${outcome.status}`
}

/** Words for the codes of Node's sockets and of undici. */
const BY_CODE: Readonly<Record<string, PostError>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EHOSTUNREACH: 'host_unreachable',
  ENETUNREACH: 'host_unreachable',
  EADDRNOTAVAIL: 'host_unreachable',
  EPROTO: 'tls_failed',
  UND_ERR_HEADERS_OVERFLOW: 'invalid_response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid_response',
  UND_ERR_RESPONSE: 'invalid_response'
}
/** Codes of OpenSSL's verification of certificates, and of Node's TLS. */
const TLS_CODE =
  /^(CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|ERROR_IN_CE|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED)/

/** Returns the word for the error of a POST that was not answered. */
export function postErrorOf(error: unknown): PostError {
  if (error instanceof AddressRefused) return 'url_not_allowed'
  if (error instanceof HostUnresolved) return 'dns_failed'
  const { name, code } = error as NodeJS.ErrnoException
  // Its code is often missing.
  if (name === 'HTTPParserError') return 'invalid_response'
  if (typeof code !== 'string') return 'connection_failed'
  const word = BY_CODE[code]
  if (word !== undefined) return word
  return TLS_CODE.test(code) ? 'tls_failed' : 'connection_failed'
}
