import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ServiceError } from '../errors.ts'

/** A host with an optional port (RFC 3986, 3.2.2). No comma: two values of a repeated header arrive joined by one. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.~%!$&'()*+;=-]*)(?::\d*)?$/

/**
 * Returns the refusal of a request without exactly one valid `Host` (RFC 9112, 3.2). Undefined for a valid `Host`, and for
 * HTTP/1.0 without a `Host`.
 */
export function hostFault({
  httpVersion,
  headers: { host }
}: Pick<IncomingMessage, 'httpVersion' | 'headers'>): ServiceError | undefined {
  if (host === undefined && httpVersion === '1.1')
    return new ServiceError('PARAMETER_INVALID', 'the header Host is missing')
  if (host !== undefined && !HOST.test(host))
    return new ServiceError('PARAMETER_INVALID', 'the header Host must name one host')
  return undefined
}

/**
 * Returns the host that the client sent to a proxy (`X-Forwarded-Host`). The proxy may replace `Host` with a name of
 * its internal network. Undefined if the field is absent or invalid.
 */
export function forwardedHost(headers: IncomingHttpHeaders): string | undefined {
  const [first] = valuesOf(headers['x-forwarded-host'])
  return first !== undefined && first !== '' && HOST.test(first) ? first : undefined
}

/** Tells whether a host name without port is loopback. */
export function isLoopbackName(name: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(name)
}

/** Returns the name in a `Host` field without its port; empty if the field is absent. */
export function hostName(host = ''): string {
  return /^(?:\[[^\]]*\]|[^:]*)/.exec(host)![0]
}

/** Returns the origin of the client's request; empty if the request names no host. */
export function publicOrigin(headers: IncomingHttpHeaders): string {
  const host = forwardedHost(headers) ?? headers.host ?? ''
  if (host === '' || !HOST.test(host)) return ''
  const [scheme] = valuesOf(headers['x-forwarded-proto'])
  return `${scheme === 'https' ? 'https' : 'http'}://${host}`
}

/** Returns the values of a list header; the first one comes from the proxy nearest to the client. */
function valuesOf(field: string | string[] | undefined): string[] {
  return [field ?? []].flat().flatMap((list) => list.split(',').map((value) => value.trim()))
}
