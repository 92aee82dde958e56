import { endedPieces, endPieces } from '../node/ended-pieces.ts'
import { lengthAfterValue, TAIL_BYTES, type LongHead } from './raw-answer.ts'

/**
 * Yields the value of a long answer as it arrives. Throws if the end is not that of an answer to our id; the yielded
 * value is then incomplete. `first` holds the bytes that have arrived.
 */
export function longValue(
  first: Buffer,
  rest: AsyncIterable<Buffer>,
  id: number,
  head: LongHead
): AsyncGenerator<Buffer> {
  return endedPieces(valuePieces(first, rest, id, head), () => endPieces(rest))
}

async function* valuePieces(
  first: Buffer,
  rest: AsyncIterable<Buffer>,
  id: number,
  { valueAt, hadId }: LongHead
): AsyncGenerator<Buffer> {
  // Hold back the last bytes until more arrive, because they may follow the value. Long pieces are held back whole:
  // each piece costs a write.
  let held = first.subarray(valueAt)
  for await (const chunk of rest) {
    if (chunk.length >= TAIL_BYTES) {
      if (held.length > 0) yield held
      held = chunk
      continue
    }
    held = Buffer.concat([held, chunk])
    const passed = held.length - TAIL_BYTES
    if (passed <= 0) continue
    yield held.subarray(0, passed)
    held = held.subarray(passed)
  }
  const after = lengthAfterValue(held, id, hadId)
  if (after === null) throw new Error('the node sent an incomplete answer')
  yield held.subarray(0, held.length - after)
}
