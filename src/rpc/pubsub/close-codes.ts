import type { CloseCode } from '../../stream/close-codes.ts'

/** Close codes of the RPC socket, with the same meanings as on the stream. */
export const RPC_CLOSE_CODES: readonly CloseCode[] = [
  { code: 1001, meaning: 'The service is stopping', again: true },
  { code: 1009, meaning: 'A message was longer than 256 KiB', again: false },
  { code: 1011, meaning: 'The service failed', again: true },
  { code: 4401, meaning: 'The key was revoked or has expired', again: false },
  {
    code: 4408,
    meaning:
      'The client left 16 MiB of notifications or 48 MiB of all messages unread, or most of the 512 MiB that all clients may; it did not answer two pings, or was idle for 10 minutes',
    again: true
  },
  {
    code: 4429,
    meaning: 'The key has too many connections, or the client sent too many messages',
    again: true
  }
]
