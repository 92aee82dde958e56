import type { KeyRow } from '../../storage/port.ts'
import { AddressRanges } from './address-ranges.ts'

export type KeyState = 'active' | 'expired' | 'revoked'

/** What has become of a key: a revoked one stays revoked, and one is valid strictly before its expiry. */
export function keyState(row: KeyRow, nowMs: number): KeyState {
  if (row.revokedAtMs !== null) return 'revoked'
  return row.expiresAtMs !== null && nowMs >= row.expiresAtMs ? 'expired' : 'active'
}

/** Who asks: a stored key, made ready once for all of its requests. */
export class Caller {
  readonly row: KeyRow
  readonly keyId: string
  readonly tenant: string
  readonly scopes: readonly string[]
  /** Calls that it may make in a minute. */
  readonly ratePerMinute: number
  readonly #addresses: AddressRanges | null

  constructor(row: KeyRow, defaultRatePerMinute: number) {
    this.row = row
    this.keyId = row.id
    this.tenant = row.tenant
    this.scopes = row.scopes
    this.ratePerMinute = row.ratePerMinute ?? defaultRatePerMinute
    this.#addresses = row.allowedIps.length === 0 ? null : new AddressRanges(row.allowedIps)
  }

  /** Whether it may be used from an address; one that is not known is none of a list. */
  mayComeFrom(address: string | undefined): boolean {
    return this.#addresses === null || (address !== undefined && this.#addresses.includes(address))
  }

  /** Whether pages of an origin may use it. */
  mayBeUsedBy(origin: string): boolean {
    return this.row.corsOrigins.includes(origin)
  }
}
