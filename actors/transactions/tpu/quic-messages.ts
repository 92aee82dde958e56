import type { QuicFault } from '../../../src/transactions/tpu/quic.ts'

/** Messages to the thread that has the QUIC library. Ids are the caller's, and used once. */
export type QuicRequest =
  | { readonly kind: 'connect'; readonly connection: number; readonly host: string; readonly port: number }
  | {
      readonly kind: 'write'
      readonly connection: number
      readonly write: number
      readonly bytes: Uint8Array
    }
  | { readonly kind: 'close'; readonly connection: number }

/** Messages from that thread. */
export type QuicReport =
  /** The first message: whether the library could be loaded. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'unavailable'; readonly detail: string }
  | { readonly kind: 'opened'; readonly connection: number }
  /** The end of a connection, also of one that was never opened. */
  | {
      readonly kind: 'closed'
      readonly connection: number
      readonly reason: QuicFault
      readonly detail: string
    }
  | { readonly kind: 'written'; readonly write: number }
  | {
      readonly kind: 'unwritten'
      readonly write: number
      readonly reason: QuicFault
      readonly detail: string
    }
