import { lookup as systemLookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { ServiceError } from '../kernel/errors.ts'
import { WEBHOOK_ERRORS } from './errors.ts'
import { loopbackAddress, plainAddress, publicAddress } from './public-address.ts'
import { readWebhookUrl, type WebhookTarget } from './webhook-url.ts'

/** Resolves a host name to all of its IP addresses. Rejects if it has no address. */
export type HostLookup = (host: string) => Promise<readonly string[]>

/**
 * A receiver's address is not public. The message does not name the address, which may be a secret of the operator's
 * network.
 */
export class AddressRefused extends Error {
  constructor() {
    super('the host resolves to an address that is not public')
  }
}

/** A receiver's host name has no address, or the name server did not answer. */
export class HostUnresolved extends Error {
  constructor(cause?: unknown) {
    super('the host name cannot be resolved', { cause })
  }
}

/** Timeout in milliseconds and number of attempts at a name server; together well below a delivery's 10 s. */
const NAME_SERVER = { timeout: 2_000, tries: 2 } as const

/** Addresses of `localhost`. */
const LOOPBACK = ['127.0.0.1', '::1'] as const

export interface UrlGuardOptions {
  /** Whether private and loopback addresses pass, for development. */
  readonly allowPrivate: boolean
  /** Whether loopback addresses pass, and with them the name `localhost`. */
  readonly allowLoopback?: boolean
  /** Replaces the resolution of names. */
  readonly lookup?: HostLookup
}

/**
 * Decides which addresses webhooks may reach. Creation and test call `check`. Connections call `addressesOf` and
 * connect to the returned addresses, so that a DNS change in between cannot redirect them.
 */
export class UrlGuard {
  readonly #allowPrivate: boolean
  readonly #allowLoopback: boolean
  readonly #lookup: HostLookup

  constructor({ allowPrivate, allowLoopback = false, lookup }: UrlGuardOptions) {
    this.#allowPrivate = allowPrivate
    this.#allowLoopback = allowLoopback
    // Only the system's resolver knows `localhost` and the hosts file, but it occupies one of few threads during a
    // lookup.
    this.#lookup = lookup ?? (allowPrivate ? lookupBySystem : nameServerLookup())
  }

  /**
   * Checks a webhook's URL, and resolves its host.
   *
   * @throws ServiceError URL_REFUSED with a detail that begins with `url`
   */
  async check(url: string): Promise<WebhookTarget> {
    const reading = readWebhookUrl(url)
    if (reading.kind === 'refused')
      throw new ServiceError(WEBHOOK_ERRORS.URL_REFUSED, `url ${reading.reason}`)
    try {
      await this.addressesOf(reading.target.host)
    } catch (error) {
      // One answer for both, so that clients cannot learn which names the operator's network has.
      if (error instanceof AddressRefused || error instanceof HostUnresolved)
        throw new ServiceError(
          WEBHOOK_ERRORS.URL_REFUSED,
          'the host of url does not resolve to public addresses only; the operator can allow others for development (MILLRACE_ALLOW_PRIVATE_WEBHOOKS)'
        )
      throw error
    }
    return reading.target
  }

  /**
   * Returns all addresses of a host without duplicates. Each of them is allowed.
   *
   * @throws AddressRefused if one of them is not allowed, HostUnresolved if the host has no address
   */
  async addressesOf(host: string): Promise<readonly string[]> {
    const found = isIP(host) === 0 ? await this.#resolve(host) : [host]
    const allowed = new Set<string>()
    for (const address of found) {
      const plain = this.#allowed(address)
      if (plain === null) throw new AddressRefused()
      allowed.add(plain)
    }
    if (allowed.size === 0) throw new HostUnresolved()
    return [...allowed]
  }

  /** Returns whether a socket may be connected to an address. */
  allows(address: string): boolean {
    return this.#allowed(address) !== null
  }

  #allowed(address: string): string | null {
    if (this.#allowPrivate) return plainAddress(address)
    return (this.#allowLoopback ? loopbackAddress(address) : null) ?? publicAddress(address)
  }

  async #resolve(host: string): Promise<readonly string[]> {
    // RFC 6761: names below `localhost` are loopback, and name servers are not asked for them.
    if (this.#allowLoopback && /(^|\.)localhost$/i.test(host)) return LOOPBACK
    try {
      return await this.#lookup(host)
    } catch (error) {
      throw new HostUnresolved(error)
    }
  }
}

async function lookupBySystem(host: string): Promise<readonly string[]> {
  const found = await systemLookup(host, { all: true })
  return found.map(({ address }) => address)
}

/**
 * Returns a lookup that queries name servers, those of the system by default. It occupies no thread, so a hanging
 * name server does not delay other work of the process.
 */
export function nameServerLookup(servers?: readonly string[]): HostLookup {
  const resolver = new Resolver(NAME_SERVER)
  if (servers !== undefined) resolver.setServers(servers)
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = [v4, v6].flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason as Error
    return addresses
  }
}
