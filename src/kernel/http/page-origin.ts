import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../../access/caller.ts'
import { entriesFor, ORIGIN_PRODUCTS, type OriginProduct, type OriginUse } from '../../access/origin-entry.ts'
import { isWebOrigin } from '../../access/web-origin.ts'
import { ServiceError } from '../errors.ts'
import { forwardedHost } from './host.ts'

/** Maximum length of an origin; a host has at most 253 characters. Longer texts are not repeated. */
const ORIGIN_LENGTH_MAX = 300

/**
 * Returns the refusal of a browser page that may not use a key for a product, for REST, JSON-RPC and sockets alike. A
 * browser sends its page's origin, which must be this service's own or listed by the key. Other clients send no origin.
 */
export function originFault(
  caller: Caller,
  headers: IncomingHttpHeaders,
  use: OriginUse
): ServiceError | undefined {
  const { origin } = headers
  const mayUse = origin === undefined || caller.mayBeUsedBy(origin, use) || isOwnOrigin(origin, headers)
  return mayUse ? undefined : originRefused('this API key does not list the origin', origin, use)
}

/** Returns the refusal of an origin's page, with the remedy. */
export function originRefused(fault: string, origin: string, use: OriginUse): ServiceError {
  const isKnown = origin.length <= ORIGIN_LENGTH_MAX && entriesFor(origin, null).length > 0
  const entry = isKnown ? origin : 'the origin of the page'
  const forOne = isKnown && use !== null && use !== 'any' ? `, or ${use}:${origin} for this product` : ''
  const detail = `${fault}${isKnown ? ` ${origin}` : ' of this page'}: use a key whose cors_origins have ${entry}${forOne} (millrace keys create --origin)`
  return new ServiceError('ORIGIN_REFUSED', detail)
}

/** Returns the product of a route by its scope; null for a route that belongs to no product. */
export function productOf(scope: string, isRpc = false): OriginProduct | null {
  if (isRpc) return 'rpc'
  const word = scope === 'loopback-or-admin' ? 'admin' : scope.split(':', 1)[0]
  return ORIGIN_PRODUCTS.find((product) => product === word) ?? null
}

/**
 * Tells whether an origin has the host of the browser's request. A proxy may use another scheme than this service and
 * replace `Host`; the original host is then in `X-Forwarded-Host`. A page can set neither field.
 */
function isOwnOrigin(origin: string, headers: IncomingHttpHeaders): boolean {
  if (!isWebOrigin(origin)) return false
  const own = new URL(origin)
  return [headers.host, forwardedHost(headers)].some((name) => {
    // An origin omits the default port of its scheme; `Host` may include it.
    const url = `${own.protocol}//${name}`
    return name !== undefined && URL.canParse(url) && new URL(url).host === own.host
  })
}
