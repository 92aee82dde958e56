import type { EventEmitter } from 'node:events'
import { ServiceError } from '../errors.ts'

/** Bytes of unread answers of a tenant at which no other is begun: 80 of the longest pages. */
export const UNREAD_BYTES_MAX = 128 * 2 ** 20

/** A response whose bytes wait at its socket. */
interface Response extends Pick<EventEmitter, 'once'> {
  readonly socket: { readonly writableLength: number } | null
}

/** Counts the bytes of answers that the clients of each tenant have not read yet, and that this process therefore holds. */
export class UnreadAnswers {
  readonly #bytes = new Map<string, number>()
  readonly #followed = new WeakSet<Response>()

  /** Bytes of a tenant's unread answers. */
  of(tenant: string): number {
    return this.#bytes.get(tenant) ?? 0
  }

  /** Throws CONNECTIONS_EXCEEDED if a tenant has too many unread bytes for another answer. */
  admit(tenant: string): void {
    const bytes = this.of(tenant)
    if (bytes <= UNREAD_BYTES_MAX) return
    const mib = Math.round(bytes / 2 ** 20)
    throw new ServiceError(
      'CONNECTIONS_EXCEEDED',
      `the clients of this tenant have yet to read ${mib} MiB of answers; read them before you request more`
    )
  }

  /** Counts once what a tenant's client has not read of an answer, from its whole writing to its end. */
  follow(tenant: string, response: Response): void {
    if (this.#followed.has(response)) return
    this.#followed.add(response)
    response.once('prefinish', () => {
      const bytes = response.socket?.writableLength ?? 0
      if (bytes === 0) return
      this.#bytes.set(tenant, this.of(tenant) + bytes)
      response.once('close', () => {
        const left = this.of(tenant) - bytes
        if (left > 0) this.#bytes.set(tenant, left)
        else this.#bytes.delete(tenant)
      })
    })
  }
}
