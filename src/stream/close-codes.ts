import { MESSAGE_KIB_MAX } from './message-bound.ts'

/** A WebSocket close code of the stream, with its meaning, and whether to reconnect. */
export interface CloseCode {
  readonly code: number
  readonly meaning: string
  readonly again: boolean
}

/** Every close code that a client of the stream can get. The WebSocket library sends 1002, 1007 and 1008. */
export const CLOSE_CODES: readonly CloseCode[] = [
  { code: 1001, meaning: 'The service is stopping; `server_draining` came just before', again: true },
  { code: 1002, meaning: 'The client broke the WebSocket protocol', again: true },
  { code: 1007, meaning: 'A text message was not UTF-8', again: false },
  {
    code: 1008,
    meaning: 'A message came in more than 16,384 fragments, or in more than 262,144 unread pieces',
    again: false
  },
  { code: 1009, meaning: `A message was longer than ${MESSAGE_KIB_MAX} KiB`, again: false },
  { code: 1011, meaning: 'The service failed', again: true },
  { code: 1012, meaning: 'The service restarts', again: true },
  { code: 4400, meaning: 'The client sent 100 invalid messages in a row', again: false },
  { code: 4401, meaning: 'The key was revoked or has expired', again: false },
  { code: 4403, meaning: 'The key has lost the scope `stream`', again: false },
  { code: 4408, meaning: 'Two pings were not answered', again: true },
  {
    code: 4429,
    meaning: 'The key has too many connections, or the client sent too many messages',
    again: true
  }
]
