import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { isWebOrigin } from '../access/web-origin.ts'
import { ServiceError } from '../errors.ts'
import { forwardedHost } from './host.ts'

/** Created once, and returned instead of thrown. */
const REFUSAL = new ServiceError('ORIGIN_REFUSED', 'pages of this origin may not use this API key')

/**
 * Returns the refusal of a browser page that may not use a key, for REST and the stream alike. A browser sends its
 * page's origin, which must be this service's own or listed by the key. Other clients send none.
 */
export function originFault(caller: Caller, headers: IncomingHttpHeaders): ServiceError | undefined {
  const { origin } = headers
  const mayUse = origin === undefined || caller.mayBeUsedBy(origin) || isOwnOrigin(origin, headers)
  return mayUse ? undefined : REFUSAL
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
