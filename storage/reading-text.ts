import type { SharedReading, StoredReading } from './port/readings.ts'

/** Returns a reading as one text, which begins with its slot. */
export const storedText = ({ slot, readAtMs, text }: SharedReading): string => `${slot} ${readAtMs} ${text}`

/** Returns the reading of a stored text; null for one that no version has written. */
export function storedReading(key: string, stored: unknown, ageMs: number): StoredReading | null {
  const [, slot, readAtMs, text] = /^(\d{1,15}) (\d{1,15}) (.*)$/s.exec(String(stored)) ?? []
  if (slot === undefined || readAtMs === undefined || text === undefined) return null
  return { key, slot: Number(slot), readAtMs: Number(readAtMs), text, ageMs }
}
