import { splitCursor } from '../../src/market/cursor.ts'

const NEXT_EVENT = Buffer.from(',{"channel":')
const END_OF_EVENTS = ']'.charCodeAt(0)
const [ZERO, NINE] = [0x30, 0x39]
/** Bytes between the cursor of an event and the next event. */
const CLOSING = '}}'.length

/** The section of a batch that a receiver reads. Parsing its JSON would cost more than sending it. */
export interface ReadBatch {
  readonly cursors: readonly number[]
  readonly dropped: number
}

/** Reads the cursors of a batch, and its number of dropped events. */
export function readBatch(body: Buffer): ReadBatch {
  const cursors: number[] = []
  const end = body.lastIndexOf(END_OF_EVENTS)
  for (let at = body.indexOf(NEXT_EVENT); at >= 0 && at < end; at = body.indexOf(NEXT_EVENT, at + 1))
    cursors.push(cursorBefore(body, at - CLOSING))
  cursors.push(cursorBefore(body, end - CLOSING))
  const dropped = /"dropped":(\d+)/.exec(body.toString('latin1', end))?.[1]
  return { cursors, dropped: Number(dropped ?? 0) }
}

function cursorBefore(body: Buffer, end: number): number {
  let value = 0
  let scale = 1
  for (let at = end - 1; body[at]! >= ZERO && body[at]! <= NINE; at--) {
    value += (body[at]! - ZERO) * scale
    scale *= 10
  }
  return value
}

/** Returns the number of events of each slot. Cursors are in order. */
export function bySlot(cursors: readonly number[]): [slot: number, events: number][] {
  const slots: [number, number][] = []
  for (const cursor of cursors) {
    const { slot } = splitCursor(cursor)
    const last = slots.at(-1)
    if (last?.[0] === slot) last[1]++
    else slots.push([slot, 1])
  }
  return slots
}
