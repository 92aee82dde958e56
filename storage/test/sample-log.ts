import { cursorAt } from '../../src/market/cursor.ts'
import type { EncodedEvent, LogChannel, LogEntry } from '../../src/market/log.ts'
import { Choices, sampleBytes } from './choices.ts'
import { slotAt } from './sample-addresses.ts'

/** Channels of sample blocks: the first ones have something in most, the last in none. */
export const SAMPLE_CHANNELS: readonly LogChannel[] = [
  'venue:pumpswap',
  'launches',
  'venue:phoenix',
  'curves'
]

/** Log parts of the block at an index of a seed's series. */
export function sampleLog(seed: number, index: number): LogEntry[] {
  const choices = new Choices(seed * 104_729 + index)
  return SAMPLE_CHANNELS.slice(0, -1).flatMap((channel, n) =>
    choices.chance(0.8 / (n + 1))
      ? sampleLogEntry(channel, slotAt(index), 1 + choices.below(40), choices)
      : []
  )
}

/** An entry with a number of events, whose bodies are alike in some of their bytes. */
export function sampleLogEntry(
  channel: LogChannel,
  slot: number,
  count: number,
  choices: Choices = new Choices(slot)
): LogEntry {
  const events: EncodedEvent[] = []
  let cursor = cursorAt(slot, 0)
  for (let i = 0; i < count; i++) {
    const own = sampleBytes(choices.below(80), choices.below(1e9))
    events.push({ cursor, body: Uint8Array.from([...new Array<number>(40).fill(7), ...own]) })
    cursor += 1 + choices.below(9)
  }
  return { channel, slot, events }
}
