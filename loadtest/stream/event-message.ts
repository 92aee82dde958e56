import { crc32 } from 'node:zlib'

/** The fields of an event's message, cut out without parsing: the receivers share the machine with the server. */
export interface HeardEvent {
  readonly channel: string
  readonly cursor: number
  readonly isReplay: boolean
  /** CRC-32 of the bytes of `data`. */
  readonly sum: number
}

const HEAD = '{"type":"event","channel":"'
const DATA = '","data":'
const CURSOR = ',"cursor":'
const REPLAY_TAIL = ',"replay":true}'
const [QUOTE, COLON, LAST_OF_TRUE, FIRST_OF_EVENT, SECOND_OF_EVENT] = [0x22, 0x3a, 0x65, 0x65, 0x76]
const KIND_AT = HEAD.indexOf('event')

/** Reads a message by the byte layout that the service writes. Returns null for other messages than events. */
export function eventOf(message: Buffer): HeardEvent | null {
  if (message[KIND_AT] !== FIRST_OF_EVENT || message[KIND_AT + 1] !== SECOND_OF_EVENT) return null
  const channelEnd = message.indexOf(QUOTE, HEAD.length)
  const isReplay = message[message.length - 2] === LAST_OF_TRUE
  const end = message.length - (isReplay ? REPLAY_TAIL.length : 1)
  const colon = message.lastIndexOf(COLON, end)
  return {
    channel: message.toString('latin1', HEAD.length, channelEnd),
    cursor: Number(message.toString('latin1', colon + 1, end)),
    isReplay,
    sum: crc32(message.subarray(channelEnd + DATA.length, colon + 1 - CURSOR.length))
  }
}
