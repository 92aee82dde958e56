import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { isWebOrigin } from '../access/web-origin.ts'
import { ServiceError } from '../errors.ts'
import { forwardedHost } from './host.ts'

/** Made once, and given instead of thrown. */
const REFUSAL = new ServiceError('ORIGIN_REFUSED', 'pages of this origin may not use this API key')

/**
 * Returns the refusal of a page that may not use a key, of REST and of the stream alike. A browser names the origin of its
 * page: it must be this service's own or one that the key lists. Other clients name none.
 */
export function originFault(caller: Caller, headers: IncomingHttpHeaders): ServiceError | undefined {
  const { origin } = headers
  const mayUse = origin === undefined || caller.mayBeUsedBy(origin) || isOwnOrigin(origin, headers)
  return mayUse ? undefined : REFUSAL
}

/**
 * Whether the host of an origin is the one that the browser asked. A proxy may speak another scheme than this service, and
 * replace `Host`; the host that it was asked for is in `X-Forwarded-Host` then. A page can set neither field.
 */
function isOwnOrigin(origin: string, headers: IncomingHttpHeaders): boolean {
  if (!isWebOrigin(origin)) return false
  const own = new URL(origin)
  return [headers.host, forwardedHost(headers)].some((name) => {
    // An origin leaves out the port that its scheme implies; `Host` may have it.
    const url = `${own.protocol}//${name}`
    return name !== undefined && URL.canParse(url) && new URL(url).host === own.host
  })
}
