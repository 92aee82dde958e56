import { Announcements } from '../views/announcements.ts'

/**
 * The deliveries of this process, as its HTTP side sees them: it announces the tenant of a webhook that was created, changed or
 * deleted, and asks how much waits.
 */
export class LocalDeliveries extends Announcements<[tenant: string]> {
  #buffered: (tenant: string, id: number) => number | null = () => null

  /** Returns the number of events that wait for a webhook; null where another process delivers. */
  buffered(tenant: string, id: number): number | null {
    return this.#buffered(tenant, id)
  }

  /** Sets the source of `buffered`; null when deliveries end. */
  serve(buffered: ((tenant: string, id: number) => number | null) | null): void {
    this.#buffered = buffered ?? (() => null)
  }
}
