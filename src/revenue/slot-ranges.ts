/** A range of slots, both ends included. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

/** A range of slots with block times at its ends, unix seconds; null if unknown. */
export interface TimedRange extends SlotRange {
  readonly fromTs: number | null
  readonly toTs: number | null
}

/** Returns the slots of `ranges` that no range of `removed` has, ascending. Ranges of one list must not overlap. */
export function without(ranges: readonly SlotRange[], removed: readonly SlotRange[]): readonly SlotRange[] {
  let left: readonly SlotRange[] = ranges
  for (const { from, to } of removed)
    left = left.flatMap((range) => {
      if (to < range.from || from > range.to) return [range]
      const before = { from: range.from, to: from - 1 }
      const after = { from: to + 1, to: range.to }
      return [before, after].filter((each) => each.from <= each.to)
    })
  return left.map(({ from, to }) => ({ from, to })).toSorted((a, b) => a.from - b.from)
}

/** Returns ranges ascending; those that overlap or touch become one range. */
export function united(ranges: readonly TimedRange[]): readonly TimedRange[] {
  const result: TimedRange[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last === undefined || range.from > last.to + 1) result.push(range)
    else if (range.to > last.to) result[result.length - 1] = { ...last, to: range.to, toTs: range.toTs }
  }
  return result
}
