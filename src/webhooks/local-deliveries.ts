import { Announcements } from '../kernel/feed/announcements.ts'

/**
 * The deliveries of this process, as the HTTP side sees them. Announces the tenant of a webhook that was created,
 * changed or deleted, and returns the number of queued events.
 */
export class LocalDeliveries extends Announcements<[tenant: string]> {
  #buffered: (tenant: string, id: number) => number | null = () => null

  /** Returns the number of events queued for a webhook; null if another process delivers. */
  buffered(tenant: string, id: number): number | null {
    return this.#buffered(tenant, id)
  }

  /** Sets the source of `buffered`; null when deliveries end. */
  serve(buffered: ((tenant: string, id: number) => number | null) | null): void {
    this.#buffered = buffered ?? (() => null)
  }
}
