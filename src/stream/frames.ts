import { crc32 } from 'node:zlib'
import { HEAP_ALLOCATOR } from '../kernel/memory/arena.ts'
import type { EncodedEvent, Allocator } from '../market/log.ts'

/** Events as WebSocket frames (RFC 6455, section 5.2), ready to write; encoded once for all receivers. */
export interface Frames {
  readonly bytes: Buffer
  /** Cursors of the events, ascending. */
  readonly cursors: readonly number[]
  /** End of each event's frame in `bytes`. */
  readonly ends: readonly number[]
  /** Channels of the events. */
  readonly channels: readonly string[]
}

const FINAL_TEXT = 0x81
const SHORT_MAX = 125
const MEDIUM_MAX = 0xffff

/** Encodes events of one channel, in cursor order, as messages `{type, channel, data, cursor, replay?}`. */
export function eventFrames(
  channel: string,
  events: readonly EncodedEvent[],
  replay: boolean,
  allocator: Allocator = HEAP_ALLOCATOR
): Frames {
  const head = eventHead(channel)
  const cursors: number[] = []
  const ends: number[] = []
  const lengths: number[] = []
  const rests: string[] = []
  let size = 0
  for (const { cursor, body } of events) {
    const rest = eventRest(cursor, replay)
    const length = head.length + body.length + rest.length
    cursors.push(cursor)
    rests.push(rest)
    lengths.push(length)
    size += headerBytes(length) + length
    ends.push(size)
  }
  const bytes = allocator.allocate(size)
  let at = 0
  for (const [index, { body }] of events.entries()) {
    at = writeHeader(bytes, at, lengths[index]!)
    at += bytes.write(head, at, 'latin1')
    bytes.set(body, at)
    at += body.length
    at += bytes.write(rests[index]!, at, 'latin1')
  }
  return { bytes, cursors, ends, channels: [channel] }
}

const EVENT_TYPE = '{"type":"event",'
const eventHead = (channel: string): string => `${EVENT_TYPE}"channel":${JSON.stringify(channel)},"data":`

const outerCursor = (cursor: number, replay = false): string =>
  `,"cursor":${cursor}${replay ? ',"replay":true}' : '}'}`
const eventRest = (cursor: number, replay: boolean): string => `${cursor}}${outerCursor(cursor, replay)}`

/** The last merge that began with some frames. */
const mergesByFirst = new WeakMap<Frames, { readonly parts: readonly Frames[]; readonly merged: Frames }>()

/**
 * Merges events of several channels in cursor order. Readers of the same channels share the merged frames of a block, so that
 * its bytes are copied once for all of them.
 */
export function mergedFrames(parts: readonly Frames[]): Frames {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  const last = first && mergesByFirst.get(first)
  if (last?.parts.length === parts.length && last.parts.every((part, at) => part === parts[at]))
    return last.merged
  const merged = mergeOf(parts)
  if (first !== undefined) mergesByFirst.set(first, { parts, merged })
  return merged
}

function mergeOf(parts: readonly Frames[]): Frames {
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + part.bytes.length, 0))
  const next = parts.map(() => 0)
  const cursors: number[] = []
  const ends: number[] = []
  let at = 0
  for (;;) {
    let lowest = -1
    for (const [index, part] of parts.entries()) {
      const cursor = part.cursors[next[index]!]
      if (cursor !== undefined && (lowest < 0 || cursor < parts[lowest]!.cursors[next[lowest]!]!))
        lowest = index
    }
    if (lowest < 0) return { bytes, cursors, ends, channels: parts.flatMap(({ channels }) => channels) }
    const part = parts[lowest]!
    const index = next[lowest]!++
    at += part.bytes.copy(bytes, at, startOf(part, index), part.ends[index])
    cursors.push(part.cursors[index]!)
    ends.push(at)
  }
}

/** Returns the start of an event's frame. */
export const startOf = ({ ends }: Pick<Frames, 'ends'>, index: number): number =>
  index === 0 ? 0 : ends[index - 1]!

/** An event on a channel as members of a JSON object: `"channel":…,"data":{…}`. */
export interface EventMembers {
  readonly cursor: number
  readonly members: Uint8Array
  /** CRC-32 of the members. */
  readonly crc32: number
}

/** Events by their frames, shared by all readers of a channel. */
const membersByFrames = new WeakMap<Frames, readonly EventMembers[]>()

/** Returns the events of one channel's live frames, in cursor order. Their bytes are views of the frames. */
export function eventsIn(frames: Frames): readonly EventMembers[] {
  const known = membersByFrames.get(frames)
  if (known !== undefined) return known
  const events = frames.cursors.map((cursor, index) => {
    const start = startOf(frames, index)
    const header = headerLength(frames.bytes, start)
    const end = frames.ends[index]! - outerCursor(cursor).length
    const members = frames.bytes.subarray(start + header + EVENT_TYPE.length, end)
    return { cursor, members, crc32: crc32(members) }
  })
  membersByFrames.set(frames, events)
  return events
}

/** An event message, as its frame has it. */
export interface EventMessage {
  readonly data: Readonly<Record<string, unknown>>
}

/** Parsed events by their frames, for all choices of fields. */
const parsedByFrames = new WeakMap<Frames, readonly EventMessage[]>()

/** Parses the event messages of frames, in their order. Live frames are parsed once. */
export function dataIn(frames: Frames): readonly EventMessage[] {
  const known = parsedByFrames.get(frames)
  if (known !== undefined) return known
  const events = frames.ends.map((end, index) => {
    const start = startOf(frames, index)
    const text = frames.bytes.toString('utf8', start + headerLength(frames.bytes, start), end)
    return JSON.parse(text) as EventMessage
  })
  parsedByFrames.set(frames, events)
  return events
}

/** Returns the bytes before the text of a frame. */
function headerLength(bytes: Buffer, start: number): number {
  const length = bytes[start + 1]! & 0x7f
  return length <= SHORT_MAX ? 2 : length === 126 ? 4 : 10
}

/** Encodes a message. */
export function messageFrame(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message))
  const frame = Buffer.allocUnsafe(headerBytes(text.length) + text.length)
  frame.set(text, writeHeader(frame, 0, text.length))
  return frame
}

/** Returns a frame for a text of `length` bytes, and the index at which the text is to be written. */
export function textFrame(length: number): { readonly frame: Buffer; readonly at: number } {
  const frame = Buffer.allocUnsafe(headerBytes(length) + length)
  return { frame, at: writeHeader(frame, 0, length) }
}

/** Returns the bytes before a text of `length` bytes. */
export function textFrameHead(length: number): Buffer {
  const head = Buffer.allocUnsafe(headerBytes(length))
  writeHeader(head, 0, length)
  return head
}

const headerBytes = (length: number): number => (length <= SHORT_MAX ? 2 : length <= MEDIUM_MAX ? 4 : 10)

function writeHeader(bytes: Buffer, at: number, length: number): number {
  bytes[at] = FINAL_TEXT
  if (length <= SHORT_MAX) {
    bytes[at + 1] = length
    return at + 2
  }
  if (length <= MEDIUM_MAX) {
    bytes[at + 1] = 126
    return bytes.writeUInt16BE(length, at + 2)
  }
  bytes[at + 1] = 127
  bytes.writeUInt32BE(0, at + 2)
  return bytes.writeUInt32BE(length, at + 6)
}

/** Returns the events from index `from` up to `to` (excluded). */
export function sliceOf(frames: Frames, from: number, to: number): Frames {
  const { bytes, cursors, ends, channels } = frames
  if (from === 0 && to >= cursors.length) return frames
  const start = startOf(frames, Math.min(from, cursors.length))
  const slice = ends.slice(from, to)
  return {
    bytes: bytes.subarray(start, slice.at(-1) ?? start),
    cursors: cursors.slice(from, to),
    ends: slice.map((end) => end - start),
    channels
  }
}
