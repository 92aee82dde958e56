import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ServiceError } from '../errors.ts'

/** A host and a port (RFC 3986, 3.2.2), without commas: of a header that comes twice both values arrive as one. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.~%!$&'()*+;=-]*)(?::\d*)?$/

/** Refuses a request without one good `Host`, as RFC 9112, 3.2 demands; undefined where it has one, or is of HTTP/1.0. */
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
 * The host that a proxy says it was asked for, where it replaces `Host`: with a name of its own network, which is nothing
 * for tenants.
 */
export function forwardedHost(headers: IncomingHttpHeaders): string | undefined {
  const [first] = valuesOf(headers['x-forwarded-host'])
  return first !== undefined && first !== '' && HOST.test(first) ? first : undefined
}

/** Whether a host name, without its port, is of this machine's loopback. */
export function isLoopbackName(name: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(name)
}

/** The name in a `Host` field, without its port; empty where there is no field. */
export function hostName(host = ''): string {
  return /^(?:\[[^\]]*\]|[^:]*)/.exec(host)![0]
}

/** The origin under which a client asked for the service; empty where it named no host. */
export function publicOrigin(headers: IncomingHttpHeaders): string {
  const host = forwardedHost(headers) ?? headers.host ?? ''
  if (host === '' || !HOST.test(host)) return ''
  const [scheme] = valuesOf(headers['x-forwarded-proto'])
  return `${scheme === 'https' ? 'https' : 'http'}://${host}`
}

/** The values of a list header: the first is that of the proxy nearest to the client. */
function valuesOf(field: string | string[] | undefined): string[] {
  return [field ?? []].flat().flatMap((list) => list.split(',').map((value) => value.trim()))
}
