/** A stretch of days, counted from now, in which a kind of rows grows by the same number of bytes a day. */
export interface GrowthPhase {
  /** End of the stretch, in days; Infinity for the last one of a kind. */
  readonly untilDays: number
  /** Negative where more is deleted than written. */
  readonly bytesADay: number
}

/** Stored bytes of rows that are written at a constant rate. */
export interface StoredRows {
  readonly bytes: number
  /** Days that the stored rows reach back. */
  readonly days: number
  /** Days after which a row is deleted; Infinity means never. */
  readonly retentionDays: number
  /** Bytes written a day from now on. */
  readonly writtenADay: number
}

/** Forecasts rows: they grow until the first ones are deleted, are then replaced by newer ones, and stay as many. */
export function growthOf({ bytes, days, retentionDays, writtenADay }: StoredRows): GrowthPhase[] {
  const growing = { untilDays: Math.max(retentionDays - days, 0), bytesADay: writtenADay }
  if (retentionDays === Infinity) return [growing]
  const reached = Math.min(days, retentionDays)
  const replaced = { untilDays: growing.untilDays + reached, bytesADay: writtenADay - bytes / reached }
  return [growing, replaced, { untilDays: Infinity, bytesADay: 0 }]
}

/** The bytes a day by which all kinds together grow at a time, in days from now. */
export function growthAt(kinds: readonly (readonly GrowthPhase[])[], days: number): number {
  const rates = kinds.map((phases) => phases.find(({ untilDays }) => days < untilDays)?.bytesADay ?? 0)
  return rates.reduce((sum, rate) => sum + rate, 0)
}

/** Days until a number of free bytes is used up; null if it never is. */
export function daysUntilFull(freeBytes: number, kinds: readonly (readonly GrowthPhase[])[]): number | null {
  const ends = new Set(kinds.flat().map(({ untilDays }) => untilDays))
  let left = freeBytes
  let days = 0
  for (const end of [...ends].sort((a, b) => a - b)) {
    const rate = growthAt(kinds, days)
    if (rate > 0 && left <= rate * (end - days)) return days + left / rate
    if (end === Infinity) return null
    left -= rate * (end - days)
    days = end
  }
  return null
}
