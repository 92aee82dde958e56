import type { IncomingMessage } from 'node:http'
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
