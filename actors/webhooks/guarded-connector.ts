import { isIP, type LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import { buildConnector as connectorOf } from '../../src/node/undici.ts'
import { AddressRefused, type UrlGuard } from '../../src/webhooks/url-guard.ts'

export interface GuardedConnectorOptions {
  readonly timeoutMs: number
  /** Further certificate authorities, in PEM; tests have one of their own. */
  readonly ca?: string
}

/**
 * Returns a connector of undici that connects only to addresses that the guard allows. The host is resolved once, and the
 * socket connects to an address of that answer. So a second answer of the name server is neither requested nor used.
 */
export function guardedConnector(
  guard: UrlGuard,
  { timeoutMs, ca }: GuardedConnectorOptions
): buildConnector.connector {
  const lookup: LookupFunction = (host, options, callback) => {
    guard.addressesOf(host).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }))
        if (options.all === true) callback(null, found)
        else callback(null, found[0]!.address, found[0]!.family)
      },
      (error: Error) => callback(error, '')
    )
  }
  const connect = connectorOf({
    lookup,
    timeout: timeoutMs,
    // Each POST of HTTP/1.1 has a connection of its own, so that one that hangs delays no other.
    allowH2: false,
    // The environment must not turn verification off.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    ...(ca !== undefined && { ca })
  })
  return (target, callback) => {
    // An address in the URL is not resolved.
    if (isIP(target.hostname) !== 0 && !guard.allows(target.hostname)) {
      callback(new AddressRefused(), null)
      return
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) callback(error, null)
      else if (guard.allows(socket.remoteAddress ?? '')) callback(null, socket)
      else {
        socket.destroy()
        callback(new AddressRefused(), null)
      }
    })
  }
}
